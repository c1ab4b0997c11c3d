#include "core/region/python_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

// Made by 3.8 for
//   10 def f(x):
//   11     y = x          code units 0, 1
//   12     return (y +    2, 4, 5
//   13             x)     3
TEST(PythonLines, ReadsPairsOfSteps) {
  const PythonLineTable lines(PythonLines::kLnotab, Bytes({0, 1, 4, 1, 2, 1, 2, -1}), 10);
  EXPECT_EQ(lines.LineOf(0), 11u);
  EXPECT_EQ(lines.LineOf(1), 11u);
  EXPECT_EQ(lines.LineOf(2), 12u);
  EXPECT_EQ(lines.LineOf(3), 13u);
  EXPECT_EQ(lines.LineOf(4), 12u);
  EXPECT_EQ(lines.LineOf(5), 12u);
}

TEST(PythonLines, TakesAStepOfZeroBytesForALongJump) {
  const PythonLineTable lines(PythonLines::kLnotab, Bytes({4, 127, 0, 100}), 1);
  EXPECT_EQ(lines.LineOf(1), 1u);
  EXPECT_EQ(lines.LineOf(2), 228u);
}

TEST(PythonLines, ReadsRangesAndThoseWithoutALine) {
  const PythonLineTable lines(PythonLines::kRanges, Bytes({4, 1, 2, -128, 6, 2}), 10);
  EXPECT_EQ(lines.LineOf(0), 11u);
  EXPECT_EQ(lines.LineOf(1), 11u);
  EXPECT_EQ(lines.LineOf(2), 0u);
  EXPECT_EQ(lines.LineOf(3), 13u);
  EXPECT_EQ(lines.LineOf(5), 13u);
  EXPECT_EQ(lines.LineOf(6), 0u);
}

// 3.11 makes the cells of a function's variables before anything of its first line.
TEST(PythonLines, GivesTheStartTheFirstLine) {
  const PythonLineTable lines(PythonLines::kLocations,
                              Bytes({
                                  0x80 | 15 << 3 | 0,     // none, 1 unit
                                  0x80 | 15 << 3 | 0,     // none, 1 unit
                                  0x80 | 13 << 3 | 0, 2,  // no columns: line + 1, 1 unit
                                  0x80 | 15 << 3 | 0,     // none, 1 unit
                              }),
                              10);
  const uint32_t expected[] = {10, 10, 11, 0, 0};
  for (int32_t i = 0; i < 5; ++i) EXPECT_EQ(lines.LineOf(i), expected[i]) << i;
}

TEST(PythonLines, ReadsEveryFormOfALocation) {
  const PythonLineTable lines(PythonLines::kLocations,
                              Bytes({
                                  0x80 | 13 << 3 | 0, 2,        // no columns: line + 1, 1 unit
                                  0x80 | 0 << 3 | 1,  0x12,     // short: the same line, 2 units
                                  0x80 | 11 << 3 | 0, 4,    9,  // one line: + 1, 1 unit
                                  0x80 | 15 << 3 | 0,           // none, 1 unit
                                  0x80 | 14 << 3 | 2, 0x48, 1, 0, 1, 1,  // long: + 36, 3 units
                                  0x80 | 14 << 3 | 0, 3,    0, 1, 1,     // long: − 1, 1 unit
                              }),
                              10);
  const uint32_t expected[] = {11, 11, 11, 12, 0, 48, 48, 48, 47, 0};
  for (int32_t i = 0; i < 10; ++i) EXPECT_EQ(lines.LineOf(i), expected[i]) << i;
}

TEST(PythonLines, GivesTheFirstLineBeforeTheFirstInstruction) {
  for (const auto kind :
       {PythonLines::kNone, PythonLines::kLnotab, PythonLines::kRanges, PythonLines::kLocations}) {
    EXPECT_EQ(PythonLineTable(kind, Bytes({2, 1}), 10).LineOf(-1), 10u);
  }
}

TEST(PythonLines, KnowsOnlyTheFirstLineWithoutATable) {
  EXPECT_EQ(PythonLineTable(PythonLines::kNone, {}, 10).LineOf(1000), 10u);
}

TEST(PythonLines, HasNoLineBehindATableThatIsCutShort) {
  const PythonLineTable lines(PythonLines::kLocations, Bytes({0x80 | 14 << 3, 0x7f}), 10);
  EXPECT_EQ(lines.LineOf(1), 0u);
}

TEST(PythonLines, HasNoLineForANumberThatCanNotBeOne) {
  const PythonLineTable lines(PythonLines::kRanges, Bytes({2, -127, 2, -127}), 100);
  EXPECT_EQ(lines.LineOf(0), 0u);
  EXPECT_EQ(lines.LineOf(1), 0u);
}

}  // namespace
}  // namespace memprof
