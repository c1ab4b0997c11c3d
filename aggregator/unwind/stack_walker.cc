#include "aggregator/unwind/stack_walker.h"

#include "aggregator/unwind/unwind_data.h"

namespace memprof {

namespace {

// The same for a special frame, which may well lead to another stack.
constexpr uintptr_t kNearby = 64u << 10;

uintptr_t g_context_end = 0;

}  // namespace

RuleTable g_rule_table;

void SetContextEnd(uintptr_t pc) { g_context_end = pc; }

bool StackWalker::JumpTo(uintptr_t address) {
  return jumps_++ < kMaxJumps && address % 8 == 0 && stack_.Jump(address);
}

[[gnu::noinline]] StepResult StackWalker::StepSlow(FrameRule rule, WalkState& state,
                                                   uint32_t& arrival) {
  if (rule.IsNone() || rule.IsSpecial()) {
    if (state.pc == g_context_end) return StepResult::kOutermost;
    CfiRow row;
    ByteRange bytes;
    const CfiResult result = FindRow(state.pc - 1, row, bytes);
    // Not remembered: a module may be loaded there at any time, and nothing would report it.
    if (result != CfiResult::kFound) return StepResult::kLost;
    if (rule.IsNone()) {
      rule = FrameRule::FromRow(row);
      g_rule_table.Insert(state.pc, rule);
    }
    if (rule.IsSpecial()) return StepSpecial(row, bytes, state, arrival);
  }
  return rule.IsOutermost() ? StepResult::kOutermost : StepCompact(rule, state, arrival);
}

// Steps by a compact rule whose words may be outside the range.
StepResult StackWalker::StepCompact(FrameRule rule, WalkState& state, uint32_t& arrival) {
  const uintptr_t cfa = (rule.UsesRbp() ? state.rbp : state.sp) + rule.CfaOffset();
  const uintptr_t slot = cfa - 8;
  const uintptr_t saved = cfa - 8 * uintptr_t{rule.SavedRbpWords()};
  // Upwards on the same stack; or code that switches stacks and says so with a CFA in rbp.
  const bool same_stack = slot >= state.sp && slot % 8 == 0 && stack_.Grow(slot, kLargestFrame);
  if (!same_stack && !(rule.UsesRbp() && JumpTo(slot))) return StepResult::kLost;
  if (same_stack ? saved >= state.sp : saved >= stack_.begin()) {
    const StepResult result = Arrive(rule, cfa, state, arrival);
    if (!same_stack) arrival |= Arrival::kRepeat;
    return result;
  }
  WalkState caller{LoadWord(slot), cfa, 0};
  if (!stack_.Read(saved, caller.rbp)) return StepResult::kLost;
  return ArriveSpecially(caller, !same_stack, state, arrival);
}

StepResult StackWalker::StepSpecial(const CfiRow& row, ByteRange bytes, WalkState& state,
                                    uint32_t& arrival) {
  Registers registers;
  registers.known = 0;
  registers.Set(kReturnAddress, state.pc);
  registers.Set(kRsp, state.sp);
  registers.Set(kRbp, state.rbp);
  FullStep outcome = StepByRow(row, bytes, stack_, registers);
  if (outcome == FullStep::kUnknownRegister ||
      (outcome == FullStep::kStepped && !registers.Has(kRbp))) {
    if (full_.AdvanceTo(state.pc, state.sp, stack_)) {
      registers = full_.registers();
      outcome = StepByRow(row, bytes, stack_, registers);
    }
  }
  if (outcome == FullStep::kOutermost) return StepResult::kOutermost;
  if (outcome != FullStep::kStepped) return StepResult::kLost;
  // A signal trampoline knows every register of the interrupted frame.
  if (row.signal_frame) full_.StandAt(registers);
  const WalkState caller{registers.value[kReturnAddress], registers.value[kRsp],
                         registers.Has(kRbp) ? registers.value[kRbp] : 0};
  const StepResult result = ArriveSpecially(caller, true, state, arrival);
  if (row.signal_frame) arrival |= Arrival::kSignal;
  return result;
}

StepResult StackWalker::ArriveSpecially(const WalkState& caller, bool may_jump, WalkState& state,
                                        uint32_t& arrival) {
  if (caller.pc == 0) return StepResult::kNoCaller;
  if (caller.pc - kLowestPc >= kPcLimit - kLowestPc) return StepResult::kLost;
  const uintptr_t slot = caller.sp - 8;
  const bool same_stack = slot >= state.sp && stack_.Grow(slot, kNearby);
  if (!same_stack && !(may_jump && JumpTo(slot))) return StepResult::kLost;
  arrival = Arrival::kConsumedRbp | Arrival::kRepeat;
  state = caller;
  return StepResult::kStepped;
}

}  // namespace memprof
