#include "aggregator/unwind/cfi_interpreter.h"

#include <gtest/gtest.h>

#include "aggregator/unwind/frame_rule.h"
#include "tests/aggregator/unwind/cfi_builder.h"

namespace memprof::test {
namespace {

CfiResult RowAt(const CfiBuilder& cfi, uintptr_t offset, CfiRow& row) {
  const ExactBytes exact(cfi.bytes());
  return InterpretFde(exact.range(), exact.range().begin + cfi.fde(), kFunction + offset, row);
}

FrameRule RuleAt(const CfiBuilder& cfi, uintptr_t offset) {
  CfiRow row;
  EXPECT_EQ(RowAt(cfi, offset, row), CfiResult::kFound);
  return FrameRule::FromRow(row);
}

// push %rbp at 0, mov %rsp, %rbp at 1, pop at 0x20.
CfiBuilder FramePointerFunction() {
  return CfiBuilder().Cie().Fde({0x41, 0x0e, 16, 0x86, 2,   // advance 1: CFA + 16, rbp at −16
                                 0x43, 0x0d, 6,             // advance 3: CFA in rbp
                                 0x5c, 0x0c, 7, 8, 0xc6});  // advance 28: rsp + 8, restore rbp
}

TEST(CfiInterpreter, FollowsAFunctionFromPrologueToEpilogue) {
  const CfiBuilder cfi = FramePointerFunction();
  EXPECT_EQ(RuleAt(cfi, 0).CfaOffset(), 8u);
  EXPECT_EQ(RuleAt(cfi, 0).SavedRbpWords(), 0u);
  EXPECT_EQ(RuleAt(cfi, 1).CfaOffset(), 16u);
  EXPECT_EQ(RuleAt(cfi, 1).SavedRbpWords(), 2u);
  EXPECT_FALSE(RuleAt(cfi, 3).UsesRbp());
  EXPECT_TRUE(RuleAt(cfi, 4).UsesRbp());
  EXPECT_EQ(RuleAt(cfi, 0x1f).CfaOffset(), 16u);
  EXPECT_FALSE(RuleAt(cfi, 0x20).UsesRbp());
  EXPECT_EQ(RuleAt(cfi, 0x20).CfaOffset(), 8u);
  EXPECT_EQ(RuleAt(cfi, 0x20).SavedRbpWords(), 0u);
}

TEST(CfiInterpreter, HasNoDataOutsideTheFunction) {
  CfiRow row;
  EXPECT_EQ(RowAt(FramePointerFunction(), kFunctionBytes - 1, row), CfiResult::kFound);
  EXPECT_EQ(RowAt(FramePointerFunction(), kFunctionBytes, row), CfiResult::kNoData);
  EXPECT_EQ(RowAt(FramePointerFunction(), ~uintptr_t{0}, row), CfiResult::kNoData);
}

TEST(CfiInterpreter, AdvancesByEveryWidth) {
  const CfiBuilder cfi =
      CfiBuilder().Cie().Fde({0x02, 0x10, 0x0e, 16,                  // 16 bytes on
                              0x03, 0x00, 0x01, 0x0e, 24,            // 256 more
                              0x04, 0x00, 0x02, 0,    0,  0x0e, 32,  // 512 more
                              0x01, 0x00, 0x08, 1,    0,  0,    0,  0, 0, 0x0e, 40});
  EXPECT_EQ(RuleAt(cfi, 15).CfaOffset(), 8u);
  EXPECT_EQ(RuleAt(cfi, 16).CfaOffset(), 16u);
  EXPECT_EQ(RuleAt(cfi, 271).CfaOffset(), 16u);
  EXPECT_EQ(RuleAt(cfi, 272).CfaOffset(), 24u);
  EXPECT_EQ(RuleAt(cfi, 784).CfaOffset(), 32u);
  EXPECT_EQ(RuleAt(cfi, 0x7ff).CfaOffset(), 32u);
  EXPECT_EQ(RuleAt(cfi, 0x800).CfaOffset(), 40u);
}

TEST(CfiInterpreter, RestoresWhatWasRemembered) {
  const CfiBuilder cfi = CfiBuilder().Cie().Fde({0x0e, 16, 0x86, 2, 0x0a,    // remember
                                                 0x41, 0x0c, 6, 48, 0x0b});  // … restore
  EXPECT_EQ(RuleAt(cfi, 1).CfaOffset(), 16u);
  EXPECT_FALSE(RuleAt(cfi, 1).UsesRbp());
}

TEST(CfiInterpreter, KeepsWhatFollowsARememberedRowUntilItIsRestored) {
  const CfiBuilder cfi = CfiBuilder().Cie().Fde({0x0e, 16, 0x0a, 0x41, 0x0e, 24,  // remember
                                                 0x0a, 0x41, 0x0e, 32,            // and again
                                                 0x41, 0x0b, 0x41, 0x0b});
  EXPECT_EQ(RuleAt(cfi, 0).CfaOffset(), 16u);
  EXPECT_EQ(RuleAt(cfi, 1).CfaOffset(), 24u);
  EXPECT_EQ(RuleAt(cfi, 2).CfaOffset(), 32u);
  EXPECT_EQ(RuleAt(cfi, 3).CfaOffset(), 24u);
  EXPECT_EQ(RuleAt(cfi, 4).CfaOffset(), 16u);
}

// Rows that are remembered and restored before the pc leave no trace, whatever rules they have.
TEST(CfiInterpreter, ForgetsEveryRuleBetweenARememberedRowAndItsRestoring) {
  const CfiBuilder cfi =
      CfiBuilder().Cie().Fde({0x0f, 1,    0x76,                    // CFA: rbp
                              0x86, 2,    0x0a, 0x0c, 3,    8,     // rbx + 8
                              0x0e, 24,   0x0d, 7,    0x13, 0x7f,  //
                              0x86, 4,    0xc6, 0x08, 6,    0x07, 16,   0x10, 16,
                              1,    0x76, 0x41, 0x0a, 0x0f, 1,    0x73, 0x0b, 0x0b});
  CfiRow row;
  ASSERT_EQ(RowAt(cfi, 1, row), CfiResult::kFound);
  EXPECT_EQ(row.cfa_kind, CfaKind::kExpression);
  EXPECT_EQ(row.registers[kRbp].kind, RuleKind::kOffset);
  EXPECT_EQ(row.registers[kRbp].value, -16);
  EXPECT_EQ(row.registers[kReturnAddress].kind, RuleKind::kOffset);
  ASSERT_EQ(RowAt(cfi, 0, row), CfiResult::kFound);
  EXPECT_EQ(row.registers[kReturnAddress].kind, RuleKind::kExpression);
}

TEST(CfiInterpreter, SupportsSomeRowsThatStayRememberedAndAnyNumberThatDoNot) {
  CfiBuilder open;
  CfiBuilder too_many;
  CfiBuilder closed;
  open.Cie().Fde({0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
                  0x0a, 0x0a, 0x0a, 0x0e, 16});
  too_many.Cie().Fde({0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
                      0x0a, 0x0a, 0x0a, 0x0a, 0x0e, 16});
  closed.Cie().Fde({0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
                    0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0b, 0x0b,
                    0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b,
                    0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0e, 32});
  EXPECT_EQ(RuleAt(open, 1).CfaOffset(), 16u);
  EXPECT_EQ(RuleAt(closed, 1).CfaOffset(), 32u);
  CfiRow row;
  EXPECT_EQ(RowAt(too_many, 1, row), CfiResult::kUnsupported);
}

TEST(CfiInterpreter, RefusesToRestoreWhatWasNotRemembered) {
  CfiRow row;
  EXPECT_EQ(RowAt(CfiBuilder().Cie().Fde({0x0b}), 1, row), CfiResult::kMalformed);
  EXPECT_EQ(RowAt(CfiBuilder().Cie().Fde({0x0a, 0x0b, 0x0b}), 1, row), CfiResult::kMalformed);
}

TEST(CfiInterpreter, KnowsTheOutermostFrame) {
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x07, 16}), 0).IsOutermost());
}

TEST(CfiInterpreter, KnowsASignalFrame) {
  CfiRow row;
  EXPECT_EQ(RowAt(CfiBuilder().Cie("zRS", {0x00}).Fde({}), 0, row), CfiResult::kFound);
  EXPECT_TRUE(row.signal_frame);
  EXPECT_TRUE(FrameRule::FromRow(row).IsSpecial());
}

TEST(CfiInterpreter, ReadsAnAugmentationWithPersonalityAndLsda) {
  // P: udata4 0x11223344; L: sdata4; R: absolute.
  const CfiBuilder cfi =
      CfiBuilder().Cie("zPLR", {0x03, 0x44, 0x33, 0x22, 0x11, 0x0b, 0x00}).Fde({0x0e, 32});
  EXPECT_EQ(RuleAt(cfi, 0).CfaOffset(), 32u);
}

TEST(CfiInterpreter, RefusesAnAugmentationItDoesNotKnow) {
  CfiRow row;
  EXPECT_EQ(RowAt(CfiBuilder().Cie("zX", {0x00}).Fde({}), 0, row), CfiResult::kMalformed);
  EXPECT_EQ(RowAt(CfiBuilder().Cie("eh").Fde({}), 0, row), CfiResult::kMalformed);
}

TEST(CfiInterpreter, KeepsExpressionsByTheirPlace) {
  const CfiBuilder cfi = CfiBuilder().Cie().Fde({0x0f, 3, 0x76, 0x78, 0x06,  // CFA: *(rbp − 8)
                                                 0x10, 6, 2, 0x76, 0x00});   // rbp at rbp + 0
  CfiRow row;
  const ExactBytes exact(cfi.bytes());
  ASSERT_EQ(InterpretFde(exact.range(), exact.range().begin + cfi.fde(), kFunction, row),
            CfiResult::kFound);
  EXPECT_EQ(row.cfa_kind, CfaKind::kExpression);
  EXPECT_EQ(row.cfa_expression_bytes, 3u);
  const auto* expression = reinterpret_cast<const uint8_t*>(exact.range().begin) + row.cfa_offset;
  EXPECT_EQ(expression[0], 0x76);
  EXPECT_EQ(row.registers[kRbp].kind, RuleKind::kExpression);
  EXPECT_TRUE(FrameRule::FromRow(row).IsSpecial());
}

TEST(FrameRule, IsSpecialForWhatItCanNotExpress) {
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x0c, 3, 16}), 0).IsSpecial());  // CFA in rbx
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x0e, 12}), 0).IsSpecial());     // not a word
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x86, 1}), 0).IsSpecial());      // over the pc
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x86, 32}), 0).IsSpecial());     // too far
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x07, 6}), 0).IsSpecial());      // rbp is lost
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x90, 2}), 0).IsSpecial());      // pc elsewhere
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x0e, 0x80, 0x80, 0x80, 0x08}), 0).IsSpecial());
  EXPECT_TRUE(RuleAt(CfiBuilder().Cie().Fde({0x86, 31}), 0).IsCompact());
  EXPECT_EQ(RuleAt(CfiBuilder().Cie().Fde({0x0e, 0xf8, 0xff, 0xff, 0x07}), 0).CfaOffset(),
            (1u << 24) - 8);
}

// As the fuzzer, with fixed seeds: no read leaves the bytes, whatever they are.
TEST(CfiInterpreter, StaysWithinBytesThatAreCutAnywhere) {
  const CfiBuilder cfi =
      CfiBuilder().Cie("zPLR", {0x03, 0, 0, 0, 0, 0x0b, 0x00}).Fde({0x0a, 0x0f, 3,    0x76, 0x78,
                                                                    0x06, 0x10, 6,    2,    0x76,
                                                                    0x00, 0x41, 0x05, 6,    2,
                                                                    0x09, 3,    6,    0x11, 3,
                                                                    0x7e, 0x14, 3,    1,    0x0b});
  for (size_t size = 0; size < cfi.bytes().size(); ++size) {
    const std::vector<uint8_t> cut(cfi.bytes().begin(),
                                   cfi.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    const ExactBytes exact(cut);
    CfiRow row;
    EXPECT_NE(InterpretFde(exact.range(), exact.range().begin + cfi.fde(), kFunction + 64, row),
              CfiResult::kFound);
  }
}

TEST(CfiInterpreter, StaysWithinBytesThatAreDamaged) {
  const std::vector<uint8_t> good =
      CfiBuilder()
          .Cie("zPLR", {0x03, 0, 0, 0, 0, 0x0b, 0x00})
          .Fde({0x0a, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0x00, 0x41, 0x05, 6, 2,
                0x09, 3,    6, 0x11, 3,    0x7e, 0x14, 3, 1, 0x0b, 0x2e, 16,   0x2f, 3, 2})
          .bytes();
  const size_t fde = CfiBuilder().Cie("zPLR", {0x03, 0, 0, 0, 0, 0x0b, 0x00}).bytes().size();
  uint64_t state = 88172645463325252u;
  const auto random = [&state](uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
  };
  int found = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::vector<uint8_t> bytes = good;
    for (uint64_t i = random(6) + 1; i > 0; --i) {
      bytes[random(bytes.size())] = static_cast<uint8_t>(random(256));
    }
    const ExactBytes exact(bytes);
    CfiRow row;
    const uintptr_t pc = kFunction + random(128);
    found += InterpretFde(exact.range(), exact.range().begin + fde, pc, row) == CfiResult::kFound;
  }
  EXPECT_GT(found, 1000);  // not all of it is refused at the first byte
}

// A header with `count` entries; entry i begins at kFunction + 16 i and names the FDE 1000 + i.
std::vector<uint8_t> Header(uint32_t count, uint32_t claimed) {
  std::vector<uint8_t> bytes = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0};
  const auto append = [&bytes](uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  append(claimed);
  for (uint32_t i = 0; i < count; ++i) {
    append(static_cast<uint32_t>(kFunction) + 16 * i);
    append(1000 + i);
  }
  return bytes;
}

TEST(FindFde, FindsTheLastEntryThatBeginsAtOrBefore) {
  for (uint32_t count : {1u, 2u, 3u, 7u, 64u, 100u}) {
    const ExactBytes exact(Header(count, count));
    const uintptr_t base = exact.range().begin;
    uintptr_t fde = 0;
    EXPECT_EQ(FindFde(exact.range(), base, base + kFunction - 1, fde), CfiResult::kNoData);
    for (uint32_t i = 0; i < count; ++i) {
      for (uintptr_t within : {0u, 1u, 15u}) {
        ASSERT_EQ(FindFde(exact.range(), base, base + kFunction + 16 * i + within, fde),
                  CfiResult::kFound);
        EXPECT_EQ(fde, base + 1000 + i);
      }
    }
    ASSERT_EQ(FindFde(exact.range(), base, base + 0x40000000, fde), CfiResult::kFound);
    EXPECT_EQ(fde, base + 1000 + count - 1);
  }
}

TEST(FindFde, RefusesATableThatIsLongerThanItsBytes) {
  const ExactBytes exact(Header(4, 5));
  uintptr_t fde = 0;
  EXPECT_EQ(FindFde(exact.range(), exact.range().begin, exact.range().begin + kFunction, fde),
            CfiResult::kMalformed);
  const ExactBytes empty(Header(0, 0));
  EXPECT_EQ(FindFde(empty.range(), empty.range().begin, empty.range().begin + kFunction, fde),
            CfiResult::kNoData);
}

TEST(FindFde, DoesNotSupportAHeaderWithoutATable) {
  std::vector<uint8_t> bytes = Header(1, 1);
  bytes[2] = 0xff;
  const ExactBytes exact(bytes);
  uintptr_t fde = 0;
  EXPECT_EQ(FindFde(exact.range(), exact.range().begin, exact.range().begin + kFunction, fde),
            CfiResult::kUnsupported);
}

}  // namespace
}  // namespace memprof::test
