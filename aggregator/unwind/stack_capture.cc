#include "aggregator/unwind/stack_capture.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <atomic>

#include "aggregator/unwind/stack_walker.h"
#include "aggregator/unwind/unwind_data.h"

namespace memprof {
namespace {

std::atomic<uint32_t> g_generation{0};

// StackMemory.reserved as the unwinder uses it.
struct Reserved {
  PermanentStack permanent;
  uint64_t open_end;  // the last step of the last capture can't be verified, only made again
};
static_assert(sizeof(Reserved) <= sizeof(StackMemory::reserved));

// One capture: new frames are written from the upper end of the memory's array downwards (leaf
// first, so they come to lie root first), while the remembered ones are still at its lower end.
//
//   frames   0 ........ candidate_ .......... write_ ........ kMaxFrames
//            remembered,                      new
//            not yet passed
//
// Invariants
//   1. candidate_ < write_: a remembered frame that may still match is not overwritten.
class Capture {
 public:
  Capture(const StartRegisters& start, StackMemory& memory, const Reserved& reserved)
      : frames_(memory.frames),
        walker_(reserved.permanent, {start.pc, start.sp, start.rbp}),
        remembered_open_end_(reserved.open_end != 0) {}

  void Remember(uint32_t depth) { candidate_ = static_cast<int32_t>(depth) - 1; }

  CaptureResult Run();

  Reserved Remembered() const { return {walker_.stack().permanent(), open_end_ ? 1u : 0u}; }

 private:
  static constexpr int32_t kNone = -1;

  bool Match();
  bool Verify(int32_t matched);
  void CopyDown(int32_t from, int32_t to);
  bool Push();
  CaptureResult Finish();

  RememberedFrame* const frames_;
  StackWalker walker_;
  int32_t candidate_ = kNone;
  int32_t write_ = static_cast<int32_t>(kMaxFrames);
  uint32_t kept_ = 0;       // remembered frames that stay where they are
  uint32_t unchanged_ = 0;  // the result's
  uint32_t arrival_ = 0;
  bool truncated_ = false;
  bool incomplete_ = false;
  bool open_end_ = false;
  const bool remembered_open_end_;
};

// Whether the walk has come to a remembered state: same pc, same slot, and the same rbp if one of
// the steps from there on reads it.
[[gnu::always_inline]] inline bool Capture::Match() {
  const WalkState& state = walker_.state();
  const uintptr_t slot = state.sp - 8;
  while (candidate_ >= 0 && frames_[candidate_].slot < slot) --candidate_;
  if (candidate_ < 0) return false;
  RememberedFrame& frame = frames_[candidate_];
  if (frame.slot != slot || frame.pc != state.pc) return false;
  const uint32_t live = frame.flags & Arrival::kLive;
  if (live != 0 && frame.rbp != state.rbp) return false;
  // How the walk came here, and an rbp that nothing reads, may differ from what is remembered.
  frame.flags = arrival_ | live;
  frame.rbp = state.rbp;
  return true;
}

// Takes frames `from` down to `to` over into the new ones, and the walk to the last of them. The
// walk is at `from`, and all steps between are verified. The remembered rbp of a frame where it was
// not live is not to be trusted, so rbp is followed again.
void Capture::CopyDown(int32_t from, int32_t to) {
  uintptr_t rbp = walker_.state().rbp;
  for (int32_t i = from; i >= to; --i) {
    RememberedFrame frame = frames_[i];
    if (i != from && Arrival::SavedRbpWords(frame.flags) != 0) {
      rbp = LoadWord(Arrival::SavedRbpAddress(frame.slot, frame.flags));
    }
    frame.rbp = rbp;
    frames_[--write_] = frame;
    if (i == to) walker_.set_state({frame.pc, frame.slot + 8, rbp});
  }
}

// The walk is at the remembered frame `matched`. Checks, towards the root, that each word that the
// remembered walk read from there on is unchanged. A step is determined by its state and the words
// it reads, so by induction these are the very words that the walk would read now, in its order:
// they are readable for the same reason, and no word is looked at after one that has changed.
// True: the rest of the stack is as remembered, and the capture is done. False: the walk goes on
// from the last frame that is still right.
bool Capture::Verify(int32_t matched) {
  const ReadableStack& stack = walker_.stack();
  int32_t i = matched - 1;
  for (; i >= 0; --i) {
    const RememberedFrame& frame = frames_[i];
    if ((frame.flags & Arrival::kRepeat) != 0) break;
    if (!stack.Contains(frame.slot) || LoadWord(frame.slot) != frame.pc) break;
    if (Arrival::SavedRbpWords(frame.flags) != 0) {
      const uintptr_t saved = Arrival::SavedRbpAddress(frame.slot, frame.flags);
      if (!stack.Contains(saved)) break;
      if ((frame.flags & Arrival::kLive) != 0 && LoadWord(saved) != frame.rbp) break;
    }
  }
  if (i < 0 && !remembered_open_end_) {
    kept_ = unchanged_ = static_cast<uint32_t>(matched) + 1;
    return true;
  }
  CopyDown(matched, i + 1);
  candidate_ = i;
  // The remembered walk did not end by a rule but was lost, perhaps in code without unwind data
  // where a module may have been loaded since, or found no return address. That step is made again;
  // if it leads nowhere still, nothing has changed.
  if (i < 0) unchanged_ = static_cast<uint32_t>(matched) + 1;
  return false;
}

[[gnu::always_inline]] inline bool Capture::Push() {
  if (__builtin_expect(write_ == 0, 0)) {
    truncated_ = true;
    return false;
  }
  --write_;
  if (__builtin_expect(write_ == candidate_, 0)) candidate_ = kNone;
  const WalkState& state = walker_.state();
  frames_[write_] = {state.pc, state.sp - 8, state.rbp, 0, arrival_};
  return true;
}

[[gnu::always_inline]] inline CaptureResult Capture::Run() {
  for (;;) {
    if (Match()) {
      if (Verify(candidate_)) break;
    } else if (!Push()) {
      break;
    }
    const StepResult result = walker_.Step(arrival_);
    if (__builtin_expect(result != StepResult::kStepped, 0)) {
      incomplete_ = result == StepResult::kLost;
      open_end_ = result != StepResult::kOutermost;
      if (!incomplete_) walker_.stack().KeepIfOwnStack();
      break;
    }
    unchanged_ = 0;
  }
  return Finish();
}

// Moves the new frames behind those that were kept, and finds out which rbps are live: a step
// reads its frame's rbp, or leaves it to the step after it.
CaptureResult Capture::Finish() {
  const auto new_begin = static_cast<uint32_t>(write_);
  const uint32_t depth = kept_ + kMaxFrames - new_begin;
  bool live = kept_ > 0 && (frames_[kept_ - 1].flags & Arrival::kLive) != 0;
  uint32_t step = kept_ > 0 ? frames_[kept_ - 1].flags : 0;
  for (uint32_t from = new_begin, to = kept_; to < depth; ++from, ++to) {
    RememberedFrame frame = frames_[from];
    live = to > 0 && ((step & Arrival::kConsumedRbp) != 0 ||
                      (live && Arrival::SavedRbpWords(step) == 0));
    step = frame.flags;
    frame.flags = live ? step | Arrival::kLive : step & ~Arrival::kLive;
    frames_[to] = frame;
  }
  return {depth, unchanged_, truncated_, incomplete_};
}

}  // namespace

CaptureResult CaptureStack(const StartRegisters& start, StackMemory& memory) {
  static_assert(sizeof(Reserved) <= sizeof(memory.reserved));
  Reserved reserved;
  __builtin_memcpy(&reserved, memory.reserved, sizeof(reserved));
  const uint32_t generation = g_generation.load(std::memory_order_acquire);
  Capture capture(start, memory, reserved);
  if (memory.generation == generation) capture.Remember(memory.depth);
  // Should a signal handler leave this capture by longjmp, nothing is remembered.
  memory.depth = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);

  const CaptureResult result = capture.Run();

  reserved = capture.Remembered();
  __builtin_memcpy(memory.reserved, &reserved, sizeof(reserved));
  memory.generation = generation;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Of a truncated stack the root is not known, and its frames move with every call.
  memory.depth = result.truncated ? 0 : result.depth;
  return result;
}

bool InitUnwinder() {
  const void* stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
  if (stack_end != nullptr) {
    SetMainStackEnd(LoadWord(reinterpret_cast<uintptr_t>(stack_end)));
  }
  // makecontext tells where its contexts end: the word on top of a new one's stack.
  alignas(16) char stack[512];
  ucontext_t context;
  if (getcontext(&context) == 0) {
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof(stack);
    context.uc_link = nullptr;
    makecontext(&context, [] {}, 0);
    SetContextEnd(LoadWord(static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP])));
  }
  return InitUnwindData();
}

void InvalidateUnwinder() {
  g_generation.fetch_add(1, std::memory_order_acq_rel);
  g_rule_table.Clear();
}

}  // namespace memprof
