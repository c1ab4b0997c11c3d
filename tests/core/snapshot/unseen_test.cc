#include "core/snapshot/unseen.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

using Kind = Unseen::Kind;

TEST(Unseen, IsInOneOrderWhateverCameFirst) {
  const std::vector<Unseen> a = {{Kind::kProcesses, "true", "", 2},
                                 {Kind::kExecuted, "w", "env", 1}};
  const std::vector<Unseen> b = {{Kind::kAllocator, "jemalloc", "w", 1},
                                 {Kind::kProcesses, "true", "", 3}};
  std::vector<Unseen> one, other;
  AddUnseen(one, a);
  AddUnseen(one, b);
  AddUnseen(other, b);
  AddUnseen(other, a);
  EXPECT_EQ(one, other);
  ASSERT_EQ(one.size(), 3u);
  EXPECT_EQ(one[2], (Unseen{Kind::kProcesses, "true", "", 5}));
}

TEST(Unseen, IsSaidInALineEachAndProcessesInOne) {
  std::vector<Unseen> unseen;
  AddUnseen(unseen, {{Kind::kProcesses, "busybox", "", 1},
                     {Kind::kProcesses, "w", "", 3},
                     {Kind::kChildren, "", "", 1},
                     {Kind::kExecuted, "w", "env", 1},
                     {Kind::kAllocator, "malloc", "own", 1},
                     {Kind::kAllocator, "tcmalloc", "", 1},
                     {Kind::kAllocator, kOfDeepBoundModules, "deep", 1},
                     {Kind::kAllocator, kOfOtherNamespaces, "", 2}});
  EXPECT_EQ(
      UnseenLines(unseen),
      (std::vector<std::string>{
          "the program opened a module in a namespace of its own (dlmopen), which has a libc of "
          "its "
          "own: its allocations are in no figure",
          "own has a malloc of its own inside that isn't hooked: what it allocates with that is "
          "in no figure, and blocks of others that it frees may look leaked",
          "deep opened a module with RTLD_DEEPBIND, whose allocations pass by the hooks: they are "
          "in no figure",
          "the program has a tcmalloc inside that isn't hooked: what it allocates with that is in "
          "no figure",
          "env executed w, which ran without a tracker: nothing of that is in the figures",
          "4 processes ran without a tracker and are in no figure: busybox, w (3)",
          "1 forked child found no room to count in: it is in no figure, nor are the processes "
          "that "
          "it made"}));
}

}  // namespace
}  // namespace memprof
