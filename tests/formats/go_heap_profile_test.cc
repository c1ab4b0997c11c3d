#include "formats/export/go_heap_profile.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

Profile Heap(uint64_t live) {
  Profile profile;
  profile.program.program = "demo";
  profile.modules = {{"/lib/libc.so.6", "cd"}, {"/bin/demo", "ab"}};
  profile.frames = {{"main", "a.c", 3, 1, 0x10, false}, {"grow", "a.c", 1, 1, 0x20, false}};
  profile.nodes = {{}, {0, 0}, {1, 1}};
  profile.thread_names = {"main"};
  ProfileSite site;
  site.node = 2;
  site.leaked = {live * 100, live};
  site.total = {1000, 10};
  profile.sites = {site};
  profile.leaked = site.leaked;
  profile.total = site.total;
  return profile;
}

TEST(GoHeapProfile, IsTheSameForTheSameAndSmallerForADifferenceOfNothing) {
  const Profile profiles[] = {Heap(3)};
  const std::string once = GoHeapProfile(profiles, {}, {});
  EXPECT_EQ(once, GoHeapProfile(profiles, {}, {}));
  // A stack whose values are all 0 is left out.
  EXPECT_LT(GoHeapProfile(profiles, profiles, {}).size(), once.size());
}

TEST(GoHeapText, HasGosFormAndTheSums) {
  const Profile profiles[] = {Heap(3), Heap(2)};
  EXPECT_EQ(GoHeapText(profiles),
            "heap profile: 5: 500 [20: 2000] @ heap/1\n"
            "3: 300 [10: 1000] @ 0x20 0x10\n#\t0x20\tgrow\t\ta.c:1\n#\t0x10\tmain\t\ta.c:3\n\n"
            "2: 200 [10: 1000] @ 0x20 0x10\n#\t0x20\tgrow\t\ta.c:1\n#\t0x10\tmain\t\ta.c:3\n\n");
}

}  // namespace
}  // namespace memprof
