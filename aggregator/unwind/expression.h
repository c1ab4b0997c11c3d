// DWARF expressions of CFI: what PLT stubs, signal trampolines and functions that realign their
// stack need.
//
// Thread safety: pure but for the memory it reads, through ReadableStack. Async-signal-safe.
// Failure: kUnknownRegister or kFailed; bounded at kExpressionSteps operations and
// kExpressionDepth values.
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
