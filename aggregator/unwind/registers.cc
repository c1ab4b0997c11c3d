#include "aggregator/unwind/registers.h"

#include "aggregator/unwind/expression.h"

namespace memprof {
namespace {

ByteRange ExpressionBytes(ByteRange bytes, int64_t offset, uint32_t size) {
  const uintptr_t begin = bytes.begin + static_cast<uintptr_t>(offset);
  return {begin, begin + size};
}

FullStep FindCfa(const CfiRow& row, ByteRange bytes, const ReadableStack& stack,
                 const Registers& registers, uintptr_t& cfa) {
  if (row.cfa_kind == CfaKind::kExpression) {
    return EvaluateExpression(ExpressionBytes(bytes, row.cfa_offset, row.cfa_expression_bytes),
                              registers, stack, false, 0, cfa);
  }
  if (row.cfa_kind == CfaKind::kNone) return FullStep::kFailed;
  if (!registers.Has(row.cfa_register)) return FullStep::kUnknownRegister;
  cfa = registers.value[row.cfa_register] + static_cast<uintptr_t>(row.cfa_offset);
  return FullStep::kStepped;
}

// The caller's value of `reg`.
FullStep FindRegister(const CfiRow& row, ByteRange bytes, const ReadableStack& stack,
                      const Registers& registers, uintptr_t cfa, uint32_t reg, uintptr_t& value) {
  const RegisterRule& rule = row.registers[reg];
  const uintptr_t at = cfa + static_cast<uintptr_t>(int64_t{rule.value});
  uint32_t source = reg;
  switch (rule.kind) {
    case RuleKind::kUnspecified:
      if (reg == kRsp) {
        value = cfa;
        return FullStep::kStepped;
      }
      if (!IsCalleeSaved(reg)) return FullStep::kUnknownRegister;
      break;
    case RuleKind::kUndefined:
      return FullStep::kUnknownRegister;
    case RuleKind::kSameValue:
      break;
    case RuleKind::kOffset:
      return stack.Read(at, value) ? FullStep::kStepped : FullStep::kFailed;
    case RuleKind::kValOffset:
      value = at;
      return FullStep::kStepped;
    case RuleKind::kRegister:
      source = static_cast<uint32_t>(rule.value);
      break;
    case RuleKind::kExpression:
    case RuleKind::kValExpression: {
      uintptr_t result = 0;
      const FullStep outcome =
          EvaluateExpression(ExpressionBytes(bytes, rule.value, rule.expression_bytes), registers,
                             stack, true, cfa, result);
      if (outcome != FullStep::kStepped) return outcome;
      value = result;
      if (rule.kind == RuleKind::kValExpression) return FullStep::kStepped;
      return stack.Read(result, value) ? FullStep::kStepped : FullStep::kFailed;
    }
  }
  if (!registers.Has(source)) return FullStep::kUnknownRegister;
  value = registers.value[source];
  return FullStep::kStepped;
}

}  // namespace

FullStep StepByRow(const CfiRow& row, ByteRange bytes, const ReadableStack& stack,
                   Registers& registers) {
  if (row.registers[kReturnAddress].kind == RuleKind::kUndefined) return FullStep::kOutermost;
  uintptr_t cfa = 0;
  const FullStep outcome = FindCfa(row, bytes, stack, registers, cfa);
  if (outcome != FullStep::kStepped) return outcome;

  Registers caller;
  caller.known = 0;
  for (uint32_t reg = 0; reg < kRegisterCount; ++reg) {
    uintptr_t value = 0;
    const FullStep found = FindRegister(row, bytes, stack, registers, cfa, reg, value);
    if (found == FullStep::kStepped) {
      caller.Set(reg, value);
    } else if (reg == kRsp || reg == kReturnAddress) {
      return found;
    }
  }
  // StackCapture's invariant 3: the pc of an interrupted frame is kept as pc + 1.
  if (row.signal_frame && caller.value[kReturnAddress] != 0) ++caller.value[kReturnAddress];
  registers = caller;
  return FullStep::kStepped;
}

}  // namespace memprof
