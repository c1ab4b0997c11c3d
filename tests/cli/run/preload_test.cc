#include "cli/run/preload.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run/private_directory.h"
#include "tests/cli/run/temporary_directory.h"

namespace memprof {
namespace {

TEST(Preload, IsNamedAsItIsWhereTheLoaderCanReadIt) {
  auto directory = PrivateDirectory::Make();
  EXPECT_EQ(*PreloadablePath("/usr/lib/memprof/x.so", *directory), "/usr/lib/memprof/x.so");
  EXPECT_TRUE(std::filesystem::is_empty(directory->path()));
}

TEST(Preload, IsNamedByALinkWhereTheLoaderWouldSplitItsPath) {
  for (const char* path : {"/a b/x.so", "/a:b/x.so", "/a$LIB/x.so"}) {
    auto directory = PrivateDirectory::Make();
    const auto link = PreloadablePath(path, *directory);
    ASSERT_TRUE(link) << path;
    EXPECT_TRUE(IsPreloadable(*link)) << *link;
    EXPECT_EQ(std::filesystem::read_symlink(*link), path);
  }
}

TEST(Preload, IsFoundBesideTheExecutable) {
  const TemporaryDirectory files;
  std::filesystem::create_directories(files / "lib/memprof");
  const std::string preload = files.Write("lib/memprof/libmemprof_preload.so", "");
  const auto found = FindPreloadFor(files / "bin/memprof");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, preload);
}

TEST(Preload, ThatIsMissingIsSaidWithItsPath) {
  const TemporaryDirectory files;
  const auto found = FindPreloadFor(files / "bin/memprof");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(files / "lib/memprof/libmemprof_preload.so"),
            std::string::npos);
}

}  // namespace
}  // namespace memprof
