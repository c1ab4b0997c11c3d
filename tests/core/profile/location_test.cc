#include "core/profile/location.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

constexpr uint32_t kDemo = 0;
constexpr uint32_t kLibc = 1;

// One stack, outermost first; the location's function.
std::string LocationIn(const std::vector<ProfileFrame>& stack) {
  Profile profile;
  profile.modules = {{"/usr/bin/demo", ""}, {"/lib/libc.so.6", ""}};
  profile.nodes.push_back({});
  for (uint32_t i = 0; i < stack.size(); ++i) {
    profile.frames.push_back(stack[i]);
    profile.nodes.push_back({i, i});
  }
  ProfileSite site;
  site.node = static_cast<uint32_t>(stack.size());
  const uint32_t node = LocationOf(profile, site);
  return node == 0 ? "" : profile.frames[profile.nodes[node].frame].function;
}

ProfileFrame In(uint32_t module, const char* function) { return {function, "", 0, module}; }

TEST(Location, IsTheInnermostFrameOfTheProgram) {
  EXPECT_EQ(LocationIn({In(kDemo, "main"), In(kDemo, "Load")}), "Load");
  EXPECT_EQ(LocationIn({In(kDemo, "main"), In(kDemo, "Load"),
                        In(kDemo, "std::vector<int>::reserve(unsigned long)"),
                        In(kDemo, "operator new(unsigned long)")}),
            "Load");
  EXPECT_EQ(LocationIn(
                {In(kDemo, "main"), In(kLibc, "qsort"), In(kDemo, "Compare"), In(kLibc, "strdup")}),
            "Compare");
}

TEST(Location, IsTheInnermostFrameWhereAllIsSystem) {
  EXPECT_EQ(LocationIn({In(kLibc, "start"), In(kLibc, "getpwuid")}), "getpwuid");
  EXPECT_EQ(LocationIn({In(kNoModule, "[incomplete]"), In(kLibc, "getpwuid")}), "getpwuid");
}

TEST(Location, IsARowWhereThereIsNothingElse) {
  EXPECT_EQ(LocationIn({In(kNoModule, "[tables full]")}), "[tables full]");
  EXPECT_EQ(LocationIn({}), "");
}

}  // namespace
}  // namespace memprof
