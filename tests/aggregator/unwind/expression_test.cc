#include "aggregator/unwind/expression.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/aggregator/unwind/cfi_builder.h"

namespace memprof::test {
namespace {

// rsp = 0x7000, rbp = the address of `word`, the pc is kept as pc + 1; nothing else is known.
class Expression : public ::testing::Test {
 protected:
  Expression() {
    registers_.known = 0;
    registers_.Set(kRsp, 0x7000);
    registers_.Set(kRbp, reinterpret_cast<uintptr_t>(&word_));
  }

  FullStep Run(const std::vector<uint8_t>& bytes, bool has_initial = false) {
    const ExactBytes exact(bytes);
    const ReadableStack stack({}, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    return EvaluateExpression(exact.range(), registers_, stack, has_initial, 100, result_);
  }

  void ExpectValue(const std::vector<uint8_t>& bytes, uintptr_t value) {
    EXPECT_EQ(Run(bytes), FullStep::kStepped);
    EXPECT_EQ(result_, value);
  }

  uintptr_t word_ = 0x1234'5678'9abc'def0;
  uintptr_t result_ = 0;
  Registers registers_;
};

TEST_F(Expression, ReadsConstantsOfEveryWidthAndSign) {
  ExpectValue({0x3f}, 15);
  ExpectValue({0x08, 0xff}, 255);
  ExpectValue({0x09, 0xff}, ~uintptr_t{0});
  ExpectValue({0x0b, 0xfe, 0xff}, ~uintptr_t{0} - 1);
  ExpectValue({0x0d, 0xfd, 0xff, 0xff, 0xff}, ~uintptr_t{0} - 2);
  ExpectValue({0x10, 0x80, 0x01}, 128);
  ExpectValue({0x11, 0x7f}, ~uintptr_t{0});
}

TEST_F(Expression, FollowsAPointerInAFrame) {
  ExpectValue({0x76, 0x00, 0x06}, word_);
  ExpectValue({0x76, 0x01, 0x94, 2}, 0xbcde);
}

// The CFA of a PLT stub: rsp + 8, and 8 more once the index was pushed, at offset 11 of 16.
TEST_F(Expression, ComputesTheCfaOfAPltStub) {
  const std::vector<uint8_t> plt = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                    0x3b, 0x2a, 0x33, 0x24, 0x22};
  registers_.Set(kReturnAddress, 0x1020 + 10 + 1);
  ExpectValue(plt, 0x7008);
  registers_.Set(kReturnAddress, 0x1020 + 11 + 1);
  ExpectValue(plt, 0x7010);
}

TEST_F(Expression, ComparesAndBranches) {
  ExpectValue({0x31, 0x32, 0x2d}, 1);                                    // 1 < 2
  ExpectValue({0x31, 0x1f, 0x30, 0x2b}, 0);                              // −1 > 0
  ExpectValue({0x31, 0x28, 0x01, 0x00, 0x35, 0x37}, 7);                  // taken over lit5
  ExpectValue({0x35, 0x2f, 0x01, 0x00, 0x36}, 5);                        // skipped lit6
  ExpectValue({0x38, 0x33, 0x16, 0x1c}, static_cast<uintptr_t>(3 - 8));  // swap, minus
  ExpectValue({0x31, 0x32, 0x33, 0x17, 0x12, 0x13}, 2);                  // rot
}

TEST_F(Expression, StartsWithTheCfaForARegister) {
  EXPECT_EQ(Run({0x23, 0x08}, true), FullStep::kStepped);
  EXPECT_EQ(result_, 108u);
}

TEST_F(Expression, TellsAnUnknownRegisterFromAFailure) {
  EXPECT_EQ(Run({0x73, 0x00}), FullStep::kUnknownRegister);  // rbx
  EXPECT_EQ(Run({0x30, 0x06}), FullStep::kFailed);           // memory at 0
  EXPECT_EQ(Run({0x13}), FullStep::kFailed);                 // nothing to drop
  EXPECT_EQ(Run({0x31, 0x30, 0x1b}), FullStep::kFailed);     // division by zero
  EXPECT_EQ(Run({0x50}), FullStep::kFailed);                 // reg0 is no value
  EXPECT_EQ(Run({}), FullStep::kFailed);
}

TEST_F(Expression, EndsWhatWouldLoopForEver) {
  EXPECT_EQ(Run({0x2f, 0xfd, 0xff}), FullStep::kFailed);
  EXPECT_EQ(Run({0x31, 0x2f, 0xfc, 0xff}), FullStep::kFailed);
}

TEST_F(Expression, SurvivesAnyBytes) {
  uint32_t state = 1;
  for (int round = 0; round < 100'000; ++round) {
    std::vector<uint8_t> bytes(1 + static_cast<size_t>(round % 12));
    for (uint8_t& byte : bytes) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<uint8_t>(state >> 24);
    }
    Run(bytes);
  }
}

}  // namespace
}  // namespace memprof::test
