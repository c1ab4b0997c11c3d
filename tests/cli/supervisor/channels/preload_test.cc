#include "cli/supervisor/channels/preload.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/preflight/preflight.h"
#include "cli/supervisor/channels/private_directory.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

// An installation with both libraries.
struct Installed {
  const TemporaryDirectory files;
  const bool made = std::filesystem::create_directories(files / "lib/memprof");
  const std::string tracker = files.Write("lib/memprof/libmemprof_preload.so", "");
  const std::string hooks = files.Write("lib/memprof/libmemprof_jemalloc.so", "");
};

std::vector<std::string> PreloadsOf(const std::string& program, const std::string& tracker) {
  const auto checked = CheckProgram(program, "/bin");
  EXPECT_TRUE(checked) << program;
  const auto preloads = PreloadsFor(*checked, tracker);
  EXPECT_TRUE(preloads) << preloads.error().message;
  return *preloads;
}

TEST(Preloads, AreTheTrackerAloneWithoutJemalloc) {
  const Installed installed;
  EXPECT_EQ(PreloadsOf(PLAIN_PROGRAM, installed.tracker), std::vector{installed.tracker});
  EXPECT_EQ(PreloadsOf(installed.files.Write("text", "echo\n", 0755), installed.tracker),
            std::vector{installed.tracker});
}

TEST(Preloads, HaveTheHooksOfJemallocBehindTheTrackerWhereAProgramNeedsIt) {
  const Installed installed;
  const std::vector<std::string> both = {installed.tracker, installed.hooks};
  EXPECT_EQ(PreloadsOf(MALLOCX_PROGRAM, installed.tracker), both);
  const std::string script =
      installed.files.Write("script", std::string("#!") + MALLOCX_PROGRAM + "\n", 0755);
  EXPECT_EQ(PreloadsOf(script, installed.tracker), both);
}

TEST(Preloads, HaveTheHooksOfJemallocBehindTheTrackerWhereItIsPreloaded) {
  const Installed installed;
  const std::vector<std::string> both = {installed.tracker, installed.hooks};
  setenv("LD_PRELOAD", MALLOCX_LIBRARY, 1);
  const auto preloads = PreloadsOf(PLAIN_PROGRAM, installed.tracker);
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(preloads, both);
}

TEST(Preloads, ThatAreMissingAreSaidWithTheirPath) {
  const Installed installed;
  std::filesystem::remove(installed.hooks);
  const auto preloads = PreloadsFor(*CheckProgram(MALLOCX_PROGRAM, ""), installed.tracker);
  ASSERT_FALSE(preloads);
  EXPECT_NE(preloads.error().message.find(installed.hooks), std::string::npos);
}

TEST(Preloads, AreListedAsTheLoaderSplitsThem) {
  auto directory = PrivateDirectory::Make();
  EXPECT_EQ(*PreloadablePaths({"/lib/x.so", "/lib/y.so"}, *directory), "/lib/x.so:/lib/y.so");
  EXPECT_EQ(*PreloadablePaths({"/a b/x.so", "/a b/y.so"}, *directory),
            directory->path() + "/x.so:" + directory->path() + "/y.so");
}

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

}  // namespace
}  // namespace memprof
