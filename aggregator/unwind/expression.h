// Evaluates DWARF expressions in CFI. PLT stubs, signal trampolines and functions that realign
// their stack have them.
//
// Thread safety: pure, except for the memory that it reads through ReadableStack.
// Async-signal-safe.
// Failure: kUnknownRegister or kFailed; bounded by kExpressionSteps operations and kExpressionDepth
// values.
// Source: DWARF 5, section 2.5.
#pragma once

#include <cstdint>

#include "aggregator/unwind/registers.h"

namespace memprof {

inline constexpr uint32_t kExpressionDepth = 16;
inline constexpr uint32_t kExpressionSteps = 256;

// Evaluates `expression`, with `initial` on the stack if `has_initial`.
FullStep EvaluateExpression(ByteRange expression, const Registers& registers,
                            const ReadableStack& stack, bool has_initial, uintptr_t initial,
                            uintptr_t& result);

}  // namespace memprof
