#include "core/units.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(Units, FormatsBytesInPowersOf1024) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.0 KiB");
  EXPECT_EQ(FormatBytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(FormatBytes(24536678), "23.4 MiB");
  EXPECT_EQ(FormatBytes(~0ull), "16384.0 PiB");
}

TEST(Units, GroupsDigits) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatBytesExact(2048), "2.0 KiB (2,048 B)");
}

TEST(Units, FormatsDurations) {
  EXPECT_EQ(FormatDuration(350), "350 ms");
  EXPECT_EQ(FormatDuration(4250), "4.2 s");
  EXPECT_EQ(FormatDuration(200000), "3 min 20 s");
  EXPECT_EQ(FormatDuration(7500000), "2 h 5 min");
}

TEST(Units, FormatsSharesAndTimes) {
  EXPECT_EQ(FormatShare(1, 3), "33.3%");
  EXPECT_EQ(FormatShare(0, 0), "-");
  EXPECT_EQ(FormatUtcTime(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatUtcTime(1769860800123), "2026-01-31T12:00:00.123Z");
}

TEST(Units, ReadsSizesInAllTheirSpellings) {
  for (const char* text : {"24MB", "24 MB", "24M", "24 MiB", "24mb", "25165824", "25165824 B"}) {
    ASSERT_TRUE(ParseBytes(text).has_value()) << text;
    EXPECT_EQ(*ParseBytes(text), 25165824u) << text;
  }
  EXPECT_EQ(*ParseBytes("1.5 KiB"), 1536u);
  EXPECT_EQ(*ParseBytes("0 B"), 0u);
}

TEST(Units, RefusesWhatIsNoSize) {
  for (const char* text : {"", "x", "-1", "5 apples", "MB", "1e40 GiB", "nan"}) {
    EXPECT_FALSE(ParseBytes(text).has_value()) << text;
  }
}

TEST(Units, ReadsTimes) {
  EXPECT_EQ(ParseTime("1h30m"), 5'400'000u);
  EXPECT_EQ(ParseTime("0.2s"), 200u);
  EXPECT_EQ(ParseTime("250ms"), 250u);
  for (const char* text : {"", "5", "s", "1.s", ".5s", "1..5s", "-1s", "warm"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
}

TEST(Units, TakesDurationsWithoutAUnitForSeconds) {
  for (const auto& [text, ms] : {std::pair("90", 90'000), std::pair("0.2", 200), std::pair("0", 0),
                                 std::pair("0.5s", 500), std::pair("1.5h", 5'400'000)}) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->count(), ms);
  }
  for (const char* text : {"", "-3", "x", "5 s", "0.", "1,5", "3651d", "106752d", "1e3"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
}

}  // namespace
}  // namespace memprof
