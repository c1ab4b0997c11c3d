#include "aggregator/unwind/stack_capture.h"

#include <ucontext.h>

#include <atomic>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/unwind/stack_walker.h"
#include "aggregator/unwind/unwind_data.h"

namespace memprof {

std::atomic<uint32_t> g_unwinder_generation{1};  // StackMemory's zero is no generation

namespace {

// The unwinder's view of StackMemory.reserved.
struct Reserved {
  PermanentStack permanent;
  uint32_t open_end;  // the last step of the last capture can't be verified, only repeated
  uint32_t repeats;   // some step of the last capture is marked kRepeat
};
static_assert(sizeof(Reserved) <= sizeof(StackMemory::reserved));

// One capture. New frames are written from the upper end of the memory's array downwards (leaf
// first, so they end up root first), while the remembered ones are still at its lower end.
//
//   frames_   0 ........ candidate .......... write_ ........ kMaxFrames
//             remembered,                     new
//             not yet passed
//
// Invariants
//   1. candidate < write_: a remembered frame that may still match is not overwritten.
class Capture {
 public:
  Capture(uintptr_t own_word, StackMemory& memory, const Reserved& reserved)
      : frames_(memory.frames),
        walker_(reserved.permanent, own_word),
        remembered_open_end_(reserved.open_end != 0),
        remembered_repeats_(reserved.repeats != 0) {}

  // An earlier result: seen from the remembered leaf, `changed` is the first changed frame.
  void FromLeafFirstChangedIs(int32_t changed) { first_changed_ = changed; }

  // `remembered` is the number of the last capture's frames at the lower end of the array.
  CaptureResult Run(WalkState state, uint32_t remembered);

  Reserved Remembered() const { return {walker_.stack().permanent(), open_end_, repeats_}; }

 private:
  static constexpr int32_t kNone = -1;
  static constexpr int32_t kUnknown = -2;

  int32_t Verify(int32_t matched, WalkState& state);
  int32_t FirstChanged(int32_t matched);
  int32_t FirstChangedSlow(int32_t matched);
  void CopyDown(int32_t from, int32_t to, WalkState& state);
  CaptureResult Finish();

  RememberedFrame* const frames_;
  StackWalker walker_;
  int32_t write_ = static_cast<int32_t>(kMaxFrames);
  uint32_t kept_ = 0;       // remembered frames that stay where they are
  uint32_t unchanged_ = 0;  // for the result
  bool truncated_ = false;
  bool incomplete_ = false;
  bool open_end_ = false;
  bool repeats_ = false;
  int32_t first_changed_ = kUnknown;  // for the current match, if it is known already
  const bool remembered_open_end_;
  const bool remembered_repeats_;
};

// True if the words of one remembered step are unchanged.
[[gnu::always_inline]] inline bool IsUnchanged(const RememberedFrame& frame) {
  if (LoadWord(frame.slot) != frame.pc) return false;
  if ((frame.flags & Arrival::kVerifiedRbp) == 0) return true;
  return LoadWord(Arrival::SavedRbpAddress(frame.slot, frame.flags)) == frame.rbp;
}

// The walk is at the remembered frame `matched`. Returns the first frame from there towards the
// root with a changed word, or one that can't be verified; kNone if all are unchanged.
//
// A step is determined by its state and the words it reads. So, by induction, the words compared
// here are those that the walk would read now, in its order. They are readable for the same reason,
// and no word is read after one that has changed.
[[gnu::always_inline]] inline int32_t Capture::FirstChanged(int32_t matched) {
  // Without repeated steps the slots rise towards the root, all on one stack, and the words of a
  // step lie between two slots.
  if (remembered_repeats_ || !walker_.stack().Contains(frames_[0].slot)) {
    return FirstChangedSlow(matched);
  }
  int32_t i = matched - 1;
  while (i >= 0 && IsUnchanged(frames_[i])) --i;
  return i;
}

[[gnu::noinline]] int32_t Capture::FirstChangedSlow(int32_t matched) {
  int32_t i = matched - 1;
  for (; i >= 0; --i) {
    const RememberedFrame& frame = frames_[i];
    if ((frame.flags & Arrival::kRepeat) != 0 || frame.slot < frames_[i + 1].slot ||
        !walker_.stack().Grow(frame.slot, StackWalker::kLargestFrame) || !IsUnchanged(frame)) {
      break;
    }
  }
  return i;
}

// Copies frames `from` down to `to` to the new ones, and moves the walk to the last of them. The
// walk is at `from`, and all steps between are verified. The remembered rbp of a frame where it was
// not live can't be trusted, so rbp is followed again.
void Capture::CopyDown(int32_t from, int32_t to, WalkState& state) {
  for (int32_t i = from; i >= to; --i) {
    RememberedFrame frame = frames_[i];
    if (i != from && (frame.flags & Arrival::kLoadedRbp) != 0) {
      state.rbp = LoadWord(Arrival::SavedRbpAddress(frame.slot, frame.flags));
    }
    frame.rbp = state.rbp;
    state.pc = frame.pc;
    state.sp = frame.slot + 8;
    frames_[--write_] = frame;
  }
}

// The walk is at the remembered frame `matched`. If the rest of the stack is as remembered, all of
// it is kept. Otherwise the part that is still right is copied, and the walk goes on from there.
// Returns the next remembered frame that the walk may match.
[[gnu::always_inline]] inline int32_t Capture::Verify(int32_t matched, WalkState& state) {
  const int32_t changed = first_changed_ != kUnknown ? first_changed_ : FirstChanged(matched);
  first_changed_ = kUnknown;
  if (changed == kNone && !remembered_open_end_) {
    kept_ = unchanged_ = static_cast<uint32_t>(matched) + 1;
    repeats_ = repeats_ || remembered_repeats_;
    return kNone;
  }
  CopyDown(matched, changed + 1, state);
  // The remembered walk did not end by a rule. It was lost, perhaps in code without unwind data
  // where a module may have been loaded since, or found no return address. That step is repeated;
  // if it still leads nowhere, nothing has changed.
  if (changed == kNone) unchanged_ = static_cast<uint32_t>(matched) + 1;
  return changed;
}

[[gnu::always_inline]] inline CaptureResult Capture::Run(WalkState state, uint32_t remembered) {
  constexpr uintptr_t kNoSlot = ~uintptr_t{0};  // equal to no slot and below none
  RememberedFrame* const frames = frames_;
  auto candidate = static_cast<int32_t>(remembered) - 1;
  uintptr_t candidate_slot = candidate >= 0 ? frames[candidate].slot : kNoSlot;
  uint32_t arrival = 0;
  int32_t write = write_;
  for (;;) {
    const uintptr_t slot = state.sp - 8;
    while (candidate_slot < slot) {
      candidate_slot = --candidate >= 0 ? frames[candidate].slot : kNoSlot;
    }
    // A remembered state: same slot and pc, and the same rbp if a later step reads it.
    if (candidate_slot == slot && frames[candidate].pc == state.pc &&
        ((frames[candidate].flags & Arrival::kLive) == 0 || frames[candidate].rbp == state.rbp)) {
      // The way the walk came here, and an rbp that nothing reads, may differ from the remembered
      // ones.
      RememberedFrame& frame = frames[candidate];
      frame.flags = Arrival::Flags(arrival, (frame.flags & Arrival::kLive) != 0);
      frame.rbp = state.rbp;
      write_ = write;
      candidate = Verify(candidate, state);
      if (kept_ != 0) return Finish();
      write = write_;
      candidate_slot = candidate >= 0 ? frames[candidate].slot : kNoSlot;
    } else {
      if (__builtin_expect(write == 0, 0)) {
        truncated_ = true;
        break;
      }
      if (__builtin_expect(--write == candidate, 0)) {
        candidate = kNone;
        candidate_slot = kNoSlot;
      }
      frames[write] = {state.pc, slot, state.rbp, 0, arrival};
    }
    const StepResult result = walker_.Step(state, arrival);
    if (__builtin_expect(result != StepResult::kStepped, 0)) {
      incomplete_ = result == StepResult::kLost;
      open_end_ = result != StepResult::kOutermost;
      walker_.stack().KeepIfOwnStack();
      break;
    }
    unchanged_ = 0;
  }
  write_ = write;
  return Finish();
}

// Moves the new frames behind those that were kept, and finds out which rbps are live: a step reads
// its frame's rbp, or leaves it to the next step.
[[gnu::always_inline]] inline CaptureResult Capture::Finish() {
  const auto new_begin = static_cast<uint32_t>(write_);
  const uint32_t depth = kept_ + kMaxFrames - new_begin;
  // How the walk came to the previous frame from the current one; nothing comes after the root.
  uint32_t step = kept_ > 0 ? frames_[kept_ - 1].flags : Arrival::kLoadedRbp;
  uint32_t all = step;
  for (uint32_t from = new_begin, to = kept_; to < depth; ++from, ++to) {
    RememberedFrame frame = frames_[from];
    const bool consumed = (step & Arrival::kConsumedRbp) != 0;
    const bool passed_on = (step & (Arrival::kLive | Arrival::kLoadedRbp)) == Arrival::kLive;
    step = Arrival::Flags(frame.flags & ~(Arrival::kLive | Arrival::kVerifiedRbp),
                          consumed || passed_on);
    all |= step;
    frame.flags = step;
    frames_[to] = frame;
  }
  repeats_ = repeats_ || (all & Arrival::kRepeat) != 0;
  return {depth, unchanged_, truncated_, incomplete_};
}

// How much of the stack is unchanged since the last capture, seen from the leaf. Returns the number
// of remembered frames up to the first changed one; 0 if all are unchanged; kLeafChanged if the
// leaf's state differs, or if that can't be told here, since this is only for the thread's own
// stack, whose end is known. Most captures find nothing changed, and need none of a walk's
// preparation.
constexpr uint32_t kLeafChanged = 0xffffffffu;
[[gnu::always_inline]] inline uint32_t CountToFirstChanged(const StartRegisters& start,
                                                           const StackMemory& memory,
                                                           uint32_t remembered) {
  if (remembered == 0) return kLeafChanged;
  Reserved reserved;
  __builtin_memcpy(&reserved, memory.reserved, sizeof(reserved));
  const RememberedFrame* frame = &memory.frames[remembered - 1];
  const uintptr_t slot = start.sp - sizeof(uintptr_t);
  if (frame->slot != slot || frame->pc != start.pc ||
      ((frame->flags & Arrival::kLive) != 0 && frame->rbp != start.rbp) ||
      (reserved.open_end | reserved.repeats) != 0 || !IsOwnStack(reserved.permanent, slot) ||
      !IsOwnStack(reserved.permanent, memory.frames[0].slot)) {
    return kLeafChanged;
  }
  while (frame != memory.frames) {
    if (!IsUnchanged(*--frame)) return static_cast<uint32_t>(frame - memory.frames) + 1;
  }
  return 0;
}

[[gnu::noinline]] CaptureResult CaptureChanged(const StartRegisters& start, StackMemory& memory,
                                               uint32_t generation, uint32_t remembered,
                                               uint32_t to_first_changed) {
  Reserved reserved;
  __builtin_memcpy(&reserved, memory.reserved, sizeof(reserved));
  Capture capture(start.sp - sizeof(uintptr_t), memory, reserved);
  if (to_first_changed != kLeafChanged) {
    capture.FromLeafFirstChangedIs(static_cast<int32_t>(to_first_changed) - 1);
  }
  // If a signal handler leaves this capture by longjmp, nothing is remembered.
  memory.depth = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);

  const CaptureResult result = capture.Run({start.pc, start.sp, start.rbp}, remembered);

  reserved = capture.Remembered();
  __builtin_memcpy(memory.reserved, &reserved, sizeof(reserved));
  memory.generation = generation;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // The root of a truncated stack is not known, and its frames move with every call.
  memory.depth = result.truncated ? 0 : result.depth;
  return result;
}

}  // namespace

CaptureResult CaptureStack(const StartRegisters& start, StackMemory& memory) {
  static_assert(sizeof(Reserved) <= sizeof(memory.reserved));
  const uint32_t generation = UnwinderGeneration();
  const uint32_t remembered = memory.generation == generation ? memory.depth : 0;
  const uint32_t to_first_changed = CountToFirstChanged(start, memory, remembered);
  if (to_first_changed == 0) return {remembered, remembered, false, false};
  return CaptureChanged(start, memory, generation, remembered, to_first_changed);
}

bool CanBeVerified(const StackMemory& memory) {
  Reserved reserved;
  __builtin_memcpy(&reserved, memory.reserved, sizeof(reserved));
  return memory.depth != 0 && (reserved.open_end | reserved.repeats) == 0 &&
         IsOwnStack(reserved.permanent, memory.frames[memory.depth - 1].slot) &&
         IsOwnStack(reserved.permanent, memory.frames[0].slot);
}

bool HasSignalFrame(const StackMemory& memory, uint32_t depth) {
  for (uint32_t i = 0; i < depth; ++i) {
    if ((memory.frames[i].flags & Arrival::kSignal) != 0) return true;
  }
  return false;
}

bool IsAboveOnOwnStack(const StackMemory& memory, uintptr_t sp, uintptr_t below) {
  Reserved reserved;
  __builtin_memcpy(&reserved, memory.reserved, sizeof(reserved));
  ReadableStack stack(reserved.permanent, below);
  // Stacks have an unreadable page below them: memory that is readable throughout is one stack.
  return below < sp && IsOwnStack(reserved.permanent, sp) &&
         stack.Grow(sp, StackWalker::kLargestFrame);
}

void ForgetCaptures(StackMemory& memory) {
  memory.depth = 0;
  __builtin_memset(memory.reserved, 0, sizeof(memory.reserved));
}

bool InitUnwinder() {
  const void* const stack_end = TheLibc().stack_end;
  if (stack_end != nullptr) {
    // A kernel that starts programs without a stack limit lays out their memory from below.
    constexpr uint64_t kEnough = 64u << 20;
    const uint64_t limit = kernel::Limit(RLIMIT_STACK);
    const uint64_t room = limit < kEnough ? limit : kEnough;
    SetMainStack(LoadWord(reinterpret_cast<uintptr_t>(stack_end)), room);
  }
  // makecontext shows where its contexts end: the word on top of a new one's stack.
  alignas(16) char stack[512];
  ucontext_t context;
  const LibcFunctions& libc = TheLibc();
  if (libc.getcontext != nullptr && libc.makecontext != nullptr && libc.getcontext(&context) == 0) {
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof(stack);
    context.uc_link = nullptr;
    libc.makecontext(
        &context, [] {}, 0);
    SetContextEnd(LoadWord(static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP])));
  }
  return InitUnwindData();
}

void InvalidateUnwinder() {
  g_unwinder_generation.fetch_add(1, std::memory_order_acq_rel);
  g_rule_table.Clear();
}

}  // namespace memprof
