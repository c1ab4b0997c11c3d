// StackWalker: from a frame to its caller, by the cheapest way that works.
//
//   1. RuleTable        a compact rule that was learnt before: a few ns, within Step
//   2. CFI              a miss: interpret the row, make a rule of it, remember it
//   3. whole row        special frames (PLT stub, signal trampoline, realigned stack): evaluated
//                       with rsp and rbp; else with all registers, which FullWalker finds
//
// There is no fallback beyond that; docs/decisions/0002-own-unwinder.md says why it isn't
// libunwind. The interpreter fails at 8 of 37 million rows in binaries of Debian, CUDA, Chromium,
// Java and Rust. These are in libgcrypt's epilogues, which DWARF forbids.
//
// The state of a walk is (pc, sp, rbp). A step by a compact rule is a function of the state, of the
// rule, and of the one or two words it reads: the return address, and rbp if the rule says that it
// was saved. Both lie in the frame that the step leaves: at or above its sp and below the caller's.
// `Arrival` records which words, so that StackCapture can verify the step later instead of
// repeating it. A step that read anything else is marked kRepeat.
//
// Thread safety: on one thread's stack. Async-signal-safe.
// Failure: kLost; the frames so far are right.
#pragma once

#include <cstdint>

#include "aggregator/unwind/full_walker.h"
#include "aggregator/unwind/readable_stack.h"
#include "aggregator/unwind/rule_table.h"

namespace memprof {

struct WalkState {
  uintptr_t pc;  // see StackCapture's invariant 3
  uintptr_t sp;  // after a return: the return address was at sp - 8
  uintptr_t rbp;
};

// How a step got to a frame, in RememberedFrame.flags.
class Arrival {
 public:
  static constexpr uint32_t kLive = 1;         // set by StackCapture: a later rule reads this rbp
  static constexpr uint32_t kConsumedRbp = 2;  // the step needed the rbp of the frame it left
  // it read words that aren't recorded: can't be verified
  static constexpr uint32_t kRepeat = 4;
  static constexpr uint32_t kLoadedRbp = 8;     // rbp was loaded from CFA − 8 × SavedRbpWords
  static constexpr uint32_t kVerifiedRbp = 16;  // kLive and kLoadedRbp: a single bit to test
  static constexpr uint32_t kSignal = 32;       // from a signal handler to what it interrupted
  static constexpr uint32_t kSavedShift = 8;

  static constexpr uint32_t Flags(uint32_t arrival, bool live) {
    return arrival | (live ? kLive | (arrival & kLoadedRbp) << 1 : 0);
  }

  static constexpr uint32_t SavedRbpWords(uint32_t flags) { return flags >> kSavedShift; }
  // The CFA is the sp that the step came to: one word above the return address.
  static constexpr uintptr_t SavedRbpAddress(uintptr_t slot, uint32_t flags) {
    return slot + 8 - 8 * uintptr_t{SavedRbpWords(flags)};
  }
};

enum class StepResult : uint8_t {
  kStepped,
  kOutermost,  // the CFI says that this frame has no caller: known by the pc alone
  kNoCaller,   // its return address is 0: stacks made by hand end so
  kLost,       // no or wrong unwind data
};

// The address to which makecontext lets a coroutine's function return; libc has no CFI there.
void SetContextEnd(uintptr_t pc);

// Hidden here too; otherwise it would be reached through the GOT.
[[gnu::visibility("hidden")]] extern RuleTable g_rule_table;

// The walk's state is a local variable of the caller's loop. If a member function could reach it,
// it would be written to memory and read back at every frame.
class StackWalker {
 public:
  // How far above the range a compact rule may look for the return address. A larger frame means
  // another stack.
  static constexpr uintptr_t kLargestFrame = 16u << 20;

  // `own_word`: a word of the stack that is known to be mapped.
  StackWalker(const PermanentStack& permanent, uintptr_t own_word) : stack_(permanent, own_word) {}

  const ReadableStack& stack() const { return stack_; }
  ReadableStack& stack() { return stack_; }

  // Moves `state` to the caller's frame. `arrival`: Arrival's flags of the step.
  // REQUIRES: called from within the hook that the walk started from.
  [[gnu::always_inline]] StepResult Step(WalkState& state, uint32_t& arrival) {
    const FrameRule rule = g_rule_table.Find(state.pc);
    if (__builtin_expect(rule.IsCompact(), 1)) {
      uintptr_t base = state.sp;
      if (rule.UsesRbp()) {
        base = state.rbp;
        __asm__("");  // a predicted branch: a conditional move would lengthen the chain
      }
      const uintptr_t cfa = base + rule.CfaOffset();
      const uintptr_t slot = cfa - 8;
      const uintptr_t saved = cfa - 8 * uintptr_t{rule.SavedRbpWords()};
      if (__builtin_expect(slot >= state.sp && saved >= state.sp && stack_.Contains(slot), 1)) {
        return Arrive(rule, cfa, state, arrival);
      }
    }
    // Copies, so that the loop's own variables can stay in registers although StepSlow writes to
    // its arguments.
    WalkState slow_state = state;
    uint32_t slow_arrival = 0;
    const StepResult result = StepSlow(rule, slow_state, slow_arrival);
    state = slow_state;
    arrival = slow_arrival;
    return result;
  }

 private:
  static constexpr uint32_t kMaxJumps = 16;     // to another stack, in one capture
  static constexpr uintptr_t kLowestPc = 4096;  // lower values are rows with a name, not code
  static constexpr uintptr_t kPcLimit = uintptr_t{1} << 47;

  // REQUIRES: the stack's range holds the words that the rule reads.
  [[gnu::always_inline]] static StepResult Arrive(FrameRule rule, uintptr_t cfa, WalkState& state,
                                                  uint32_t& arrival) {
    const uintptr_t pc = LoadWord(cfa - 8);
    if (__builtin_expect(pc - kLowestPc >= kPcLimit - kLowestPc, 0)) {
      return pc == 0 ? StepResult::kNoCaller : StepResult::kLost;
    }
    const uint32_t saved_words = rule.SavedRbpWords();
    arrival = (rule.UsesRbp() ? Arrival::kConsumedRbp : 0) | (saved_words << Arrival::kSavedShift);
    if (saved_words != 0) {
      arrival |= Arrival::kLoadedRbp;
      state.rbp = LoadWord(cfa - 8 * uintptr_t{saved_words});
    }
    state.pc = pc;
    state.sp = cfa;
    return StepResult::kStepped;
  }

  StepResult StepSlow(FrameRule rule, WalkState& state, uint32_t& arrival);
  StepResult StepCompact(FrameRule rule, WalkState& state, uint32_t& arrival);
  StepResult StepSpecial(const CfiRow& row, ByteRange bytes, WalkState& state, uint32_t& arrival);
  StepResult ArriveSpecially(const WalkState& caller, bool may_jump, WalkState& state,
                             uint32_t& arrival);
  bool JumpTo(uintptr_t address);

  ReadableStack stack_;
  FullWalker full_;
  uint32_t jumps_ = 0;
};

}  // namespace memprof
