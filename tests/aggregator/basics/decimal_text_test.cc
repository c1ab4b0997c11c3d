#include "aggregator/basics/decimal_text.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

TEST(DecimalText, IsWhatTheNumberIsWrittenAs) {
  for (const uint32_t number : {0u, 7u, 10u, 4711u, 1000000000u, 4294967295u}) {
    const DecimalText text(number);
    EXPECT_EQ(text.text(), std::to_string(number));
    EXPECT_EQ(text.bytes(), std::to_string(number).size());
  }
}

}  // namespace
}  // namespace memprof
