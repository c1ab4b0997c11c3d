#include "memprof/detail/byte_size.h"

#include <gtest/gtest.h>

#include "core/units.h"

namespace memprof {
namespace {

TEST(ClientByteSize, ReadsWhatMemprofReadsAndNothingElse) {
  for (const char* text : {"0",        "512",
                           "64 KiB",   "24 MB",
                           "24MB",     "24 m",
                           "24 MiB",   "1.5 GiB",
                           "1.5g",     ".5k",
                           "2 TB",     "1 PiB",
                           "7 b",      "0.3 KiB",
                           "",         " ",
                           "MB",       "24 XB",
                           "24 MBs",   "-1",
                           "24 iB",    "x",
                           "1 2",      ".",
                           "8192 PiB", "99999999999999999999999"}) {
    uint64_t bytes = 0;
    const bool read = detail::ParseBytes(text, &bytes);
    const auto expected = ParseBytes(text);
    // The headers know no size of 2^63 bytes and more.
    if (expected && *expected >> 63 != 0) {
      EXPECT_FALSE(read) << text;
      continue;
    }
    ASSERT_EQ(read, expected.has_value()) << text;
    EXPECT_EQ(bytes, expected.value_or(0)) << text;
  }
}

TEST(ClientByteSize, IsWrittenAsMemprofWritesIt) {
  for (const uint64_t bytes :
       {0ull, 1ull, 1023ull, 1024ull, 1025ull, 1536ull, 1048524ull, 1048525ull, 1048576ull,
        31457280ull, 123456789ull, 1ull << 40, (1ull << 50) * 1500, 999999999999ull}) {
    EXPECT_EQ(detail::FormatBytes(bytes), FormatBytes(bytes));
    EXPECT_EQ(detail::FormatBytesExact(bytes), FormatBytesExact(bytes));
    EXPECT_EQ(detail::FormatCount(bytes), FormatCount(bytes));
  }
}

}  // namespace
}  // namespace memprof
