#include "cli/basics/own_library.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

TEST(OwnLibrary, IsFoundBesideTheExecutable) {
  const TemporaryDirectory files;
  std::filesystem::create_directories(files / "lib/memprof");
  const std::string library = files.Write("lib/memprof/libmemprof_preload.so", "");
  const auto found = FindOwnLibraryFor(files / "bin/memprof", "libmemprof_preload.so");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, library);
}

TEST(OwnLibrary, ThatIsMissingIsSaidWithItsPath) {
  const TemporaryDirectory files;
  const auto found = FindOwnLibraryFor(files / "bin/memprof", "libmemprof_preload.so");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(files / "lib/memprof/libmemprof_preload.so"),
            std::string::npos);
}

}  // namespace
}  // namespace memprof
