// FrameRule: the compact form of a CfiRow, in 29 bits. It covers nearly all code that compilers
// write. A row that it can't express is kSpecial, and its CFI is interpreted each time.
//
//   bits 0–1   kind: 0 none, 1 compact, 2 outermost, 3 special
//   bit  2     CFA base: 0 rsp, 1 rbp
//   bits 3–7   saved rbp at CFA − 8 × this; 0: rbp is unchanged
//   bits 8–28  CFA offset from its base, in words of 8 bytes: in the highest bits, where one shift
//              extracts it
//
// The return address of a compact frame is at CFA − 8, the caller's sp is the CFA.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

#include "aggregator/unwind/cfi_row.h"

namespace memprof {

class FrameRule {
 public:
  static constexpr uint32_t kBits = 29;

  constexpr FrameRule() = default;
  constexpr explicit FrameRule(uint64_t bits) : bits_(bits) {}

  static constexpr FrameRule Outermost() { return FrameRule(kOutermost); }
  static constexpr FrameRule Special() { return FrameRule(kSpecial); }
  static FrameRule FromRow(const CfiRow& row);

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool IsNone() const { return (bits_ & 3) == 0; }
  constexpr bool IsCompact() const { return (bits_ & 3) == kCompact; }
  constexpr bool IsOutermost() const { return (bits_ & 3) == kOutermost; }
  constexpr bool IsSpecial() const { return (bits_ & 3) == kSpecial; }

  constexpr bool UsesRbp() const { return (bits_ & 4) != 0; }
  constexpr uint32_t SavedRbpWords() const { return static_cast<uint32_t>(bits_ >> 3) & 31; }
  constexpr uintptr_t CfaOffset() const { return (bits_ >> 8) << 3; }

 private:
  static constexpr uint32_t kCompact = 1;
  static constexpr uint32_t kOutermost = 2;
  static constexpr uint32_t kSpecial = 3;

  uint64_t bits_ = 0;  // as wide as an entry of RuleTable: one shift there extracts the offset
};

inline FrameRule FrameRule::FromRow(const CfiRow& row) {
  const RegisterRule& return_address = row.registers[kReturnAddress];
  if (return_address.kind == RuleKind::kUndefined) return Outermost();
  const RegisterRule& rbp = row.registers[kRbp];
  const bool rbp_kept = rbp.kind == RuleKind::kUnspecified || rbp.kind == RuleKind::kSameValue;
  const bool rbp_saved = rbp.kind == RuleKind::kOffset && rbp.value % 8 == 0 && rbp.value <= -16 &&
                         rbp.value >= -31 * 8;
  const bool base_fits = row.cfa_kind == CfaKind::kRegisterOffset &&
                         (row.cfa_register == kRsp || row.cfa_register == kRbp) &&
                         row.cfa_offset > 0 && row.cfa_offset % 8 == 0 &&
                         row.cfa_offset / 8 < (1 << 21);
  if (row.signal_frame || !base_fits || !(rbp_kept || rbp_saved) ||
      return_address.kind != RuleKind::kOffset || return_address.value != -8 ||
      row.registers[kRsp].kind != RuleKind::kUnspecified) {
    return Special();
  }
  const uint32_t saved_words = rbp_saved ? static_cast<uint32_t>(-rbp.value / 8) : 0;
  return FrameRule(kCompact | (row.cfa_register == kRbp ? 4u : 0u) | (saved_words << 3) |
                   (static_cast<uint32_t>(row.cfa_offset / 8) << 8));
}

}  // namespace memprof
