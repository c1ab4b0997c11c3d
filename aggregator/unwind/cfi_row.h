// CfiRow: .eh_frame's description of one pc: how to find the frame's CFA (canonical frame address,
// the sp before the call pushed the return address) and each register of the caller.
//
// Memory: 168 bytes; copied by value, also for DW_CFA_remember_state.
// Invariants
//   1. An expression is [offset, offset + size) of the ByteRange the row was interpreted from.
#pragma once

#include <cstdint>

namespace memprof {

// DWARF's numbers of x86-64's registers.
inline constexpr uint32_t kRbx = 3;
inline constexpr uint32_t kRbp = 6;
inline constexpr uint32_t kRsp = 7;
inline constexpr uint32_t kR12 = 12;
inline constexpr uint32_t kR15 = 15;
inline constexpr uint32_t kReturnAddress = 16;
inline constexpr uint32_t kRegisterCount = 17;

// The registers that a function must preserve by the psABI: rbx, rbp, r12 to r15.
inline constexpr bool IsCalleeSaved(uint32_t reg) {
  return reg == kRbx || reg == kRbp || (reg >= kR12 && reg <= kR15);
}

enum class RuleKind : uint8_t {
  kUnspecified,    // no rule: callee-saved registers are kept, others are lost
  kUndefined,      // lost; for the return address: this is the outermost frame
  kSameValue,      // kept
  kOffset,         // saved at CFA + value
  kValOffset,      // its value is CFA + value
  kRegister,       // its value is in register `value`
  kExpression,     // saved at the address that the expression computes
  kValExpression,  // its value is the expression's
};

struct RegisterRule {
  RuleKind kind = RuleKind::kUnspecified;
  uint16_t expression_bytes = 0;
  int32_t value = 0;  // offset, register or the expression's offset, depending on the kind
};
static_assert(sizeof(RegisterRule) == 8);

enum class CfaKind : uint8_t { kNone, kRegisterOffset, kExpression };

struct CfiRow {
  CfaKind cfa_kind = CfaKind::kNone;
  bool signal_frame = false;  // augmentation S: the frame was interrupted, and made no call
  uint16_t cfa_expression_bytes = 0;
  uint32_t cfa_register = 0;
  int64_t cfa_offset = 0;  // or the expression's offset
  RegisterRule registers[kRegisterCount];
};

}  // namespace memprof
