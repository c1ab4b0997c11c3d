#include "cli/symbols/debug_packages.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(DebugPackages, AreToldForEachFileInTurnAndNotOfFilesOfNoPackage) {
  const std::vector<std::string> files = {"/nowhere/at/all", "/usr/bin/dpkg-query",
                                          "/proc/self/exe"};
  const auto packages = DebugPackageOfEach(files);
  ASSERT_EQ(packages.size(), 3u);
  EXPECT_EQ(packages[0], "");
  EXPECT_EQ(packages[1], "dpkg-dbgsym");
  EXPECT_EQ(packages[2], "");  // this test
  EXPECT_EQ(DebugPackageOfEach({}), std::vector<std::string>());
}

}  // namespace
}  // namespace memprof
