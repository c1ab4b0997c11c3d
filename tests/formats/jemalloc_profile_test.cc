#include "formats/jemalloc_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace memprof {
namespace {

constexpr char kProfile[] =
    "heap_v2/524288\n"
    "  t*: 88: 20176 [493: 627083]\n"
    "  t0: 88: 20176 [493: 627083] main\n"
    "@ 0x7f6bd88a2630 0x55625b1b9169\n"
    "  t*: 43: 4816 [43: 4816]\n"
    "  t0: 40: 4480 [40: 4480]\n"
    "  t1: 3: 336 [3: 336]\n"
    "@ 0x7f6bd88a2630\n"
    "  t*: 0: 0 [364: 41488586]\n"
    "@\n"
    "  t*: 1: 20971520 [0: 0]\n"
    "\n"
    "MAPPED_LIBRARIES:\n"
    "55625b1b9000-55625b1ba000 r-xp 00001000 fe:00 11141193                   /tmp/a program\n"
    "7f6bd4600000-7f6bd5800000 rw-p 00000000 00:00 0 \n"
    "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n";

std::string ErrorOf(const std::string& text) {
  const auto profile = ReadJemallocProfile(text);
  return profile ? "" : profile.error().message;
}

TEST(JemallocProfile, HasStacksInnermostFirstAndNamedMappings) {
  const auto profile = ReadJemallocProfile(kProfile);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->sample_bytes, 524288u);
  ASSERT_EQ(profile->stacks.size(), 3u);
  EXPECT_EQ(profile->stacks[0].addresses, (std::vector<uint64_t>{0x7f6bd88a2630, 0x55625b1b9169}));
  EXPECT_TRUE(profile->stacks[2].addresses.empty());
  ASSERT_EQ(profile->mappings.size(), 2u);
  EXPECT_EQ(profile->mappings[0].path, "/tmp/a program");
  EXPECT_EQ(profile->mappings[0].start, 0x55625b1b9000u);
  EXPECT_EQ(profile->mappings[0].end, 0x55625b1ba000u);
  EXPECT_EQ(profile->mappings[0].file_offset, 0x1000u);
  EXPECT_EQ(profile->mappings[1].path, "[vdso]");
}

TEST(JemallocProfile, EstimatesByTheMeanSizeOfAStacksSamples) {
  const auto profile = ReadJemallocProfile(kProfile);
  ASSERT_TRUE(profile);
  const double share = 1 - std::exp(-112.0 / 524288);  // of blocks of 112 bytes
  EXPECT_NEAR(static_cast<double>(profile->stacks[0].live.allocations), 43 / share, 1);
  EXPECT_NEAR(static_cast<double>(profile->stacks[0].live.bytes), 4816 / share, 1);
  EXPECT_EQ(profile->stacks[0].total, profile->stacks[0].live);
  EXPECT_EQ(profile->stacks[1].live, Count{});
  EXPECT_GT(profile->stacks[1].total.allocations, 364u);
}

TEST(JemallocProfile, NeverHasMoreLiveThanInAll) {
  const auto profile = ReadJemallocProfile(kProfile);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->stacks[2].live, (Count{20971520, 1}));  // sure to be sampled: itself
  EXPECT_EQ(profile->stacks[2].total, profile->stacks[2].live);
}

TEST(JemallocProfile, IsRefusedInOneLineWithItsNumber) {
  EXPECT_EQ(ErrorOf(""), "line 1 of jemalloc's profile is no heap_v2/BYTES");
  EXPECT_EQ(ErrorOf("heap profile: 1: 2 [3: 4] @ heap_v2/524288\n"),
            "line 1 of jemalloc's profile is no heap_v2/BYTES");
  EXPECT_EQ(ErrorOf("heap_v2/0\n"), "line 1 of jemalloc's profile is no heap_v2/BYTES");
  EXPECT_EQ(ErrorOf("heap_v2/99999999999999\n"),
            "line 1 of jemalloc's profile is no heap_v2/BYTES");
  EXPECT_EQ(ErrorOf("heap_v2/1\n@ 0x1 q\n"),
            "line 2 of jemalloc's profile is no stack of addresses");
  EXPECT_EQ(ErrorOf("heap_v2/1\n@ 0x1\n t*: 1: x\n"), "line 3 of jemalloc's profile is no count");
  EXPECT_EQ(ErrorOf("heap_v2/1\n@ 0x1\n@ 0x2\n"),
            "line 3 of jemalloc's profile is no count of the stack before");
  EXPECT_EQ(ErrorOf("heap_v2/1\n@ 0x1\n"),
            "line 2 of jemalloc's profile is no count of the last stack");
}

TEST(JemallocProfile, WithoutStacksIsAnEmptyHeap) {
  const auto profile = ReadJemallocProfile("heap_v2/524288\n  t*: 0: 0 [0: 0]\n");
  ASSERT_TRUE(profile);
  EXPECT_TRUE(profile->stacks.empty());
}

TEST(JemallocProfile, KeepsTheInnermostFramesOfAStackBeyondBounds) {
  std::string text = "heap_v2/1\n@";
  for (int i = 0; i < 3000; ++i) text += " 0x1";
  const auto profile = ReadJemallocProfile(text + "\n t*: 1: 1 [1: 1]\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->stacks[0].addresses.size(), kMaxJemallocFrames);
}

TEST(JemallocProfile, CountsThatNoProgramHasDoNotOverflow) {
  const auto profile = ReadJemallocProfile(
      "heap_v2/1073741824\n@ 0x1\n t*: 18446744073709551615: 18446744073709551615 [1: 0]\n");
  ASSERT_TRUE(profile);
  EXPECT_LE(profile->stacks[0].live.bytes, uint64_t{1} << 53);
}

}  // namespace
}  // namespace memprof
