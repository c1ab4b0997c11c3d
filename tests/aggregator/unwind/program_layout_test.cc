// A program whose segments lie apart (linked so): its code has another range for the loader than
// its ELF header.

#include <gtest/gtest.h>

#include "tests/aggregator/unwind/call_shapes.h"
#include "tests/aggregator/unwind/stack_probe.h"

namespace memprof::test {
namespace {

TEST(ProgramWithHolesBetweenItsSegments, IsUnwoundToItsOutermostFrame) {
  StackProbe probe;
  g_probe = &probe;
  without_frame_pointer::Recurse(10, ProbeHere);
  without_frame_pointer::SortedThrough(ProbeHere);
  g_probe = nullptr;
  EXPECT_EQ(probe.oracle_lost(), 0u);
  EXPECT_GT(probe.captures(), 10u);
  EXPECT_FALSE(probe.last().result.incomplete);
}

}  // namespace
}  // namespace memprof::test
