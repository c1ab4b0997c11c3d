// Registers: the general registers of a frame, as far as they are known, and one step from a frame
// to its caller by a CfiRow.
//
// Thread safety: values. Async-signal-safe.
#pragma once

#include <cstdint>

#include "aggregator/unwind/byte_cursor.h"
#include "aggregator/unwind/cfi_row.h"
#include "aggregator/unwind/readable_stack.h"

namespace memprof {

struct Registers {
  uintptr_t value[kRegisterCount];  // [kReturnAddress] is the pc, by StackCapture's invariant 3
  uint32_t known;                   // bit n: value[n] is right

  bool Has(uint32_t reg) const { return reg < kRegisterCount && ((known >> reg) & 1) != 0; }
  void Set(uint32_t reg, uintptr_t v) {
    value[reg] = v;
    known |= 1u << reg;
  }
};

enum class FullStep : uint8_t {
  kStepped,
  kOutermost,
  kUnknownRegister,  // the row needs a register that is not known
  kFailed,           // memory that can't be read, an expression that can't be evaluated
};

// Replaces `registers` by the caller's. Registers other than the pc and the sp become unknown if
// they can't be found. Unless the result is kStepped, `registers` is unchanged.
FullStep StepByRow(const CfiRow& row, ByteRange bytes, const ReadableStack& stack,
                   Registers& registers);

}  // namespace memprof
