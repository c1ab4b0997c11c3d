#include "aggregator/unwind/verified_stacks.h"

#include "aggregator/unwind/stack_walker.h"

namespace memprof {
namespace {

constexpr uint32_t kPause = 4096;
constexpr uint32_t kHitsWorthAStack = 1;  // remembering a stack costs about as much as a hit saves

const uintptr_t g_zero = 0;

}  // namespace

// Appends the stack. False: there is no room.
bool VerifiedStacks::Add(const StackMemory& memory, uint32_t result, const VerifiedWord* more,
                         uint32_t more_count) {
  if (stack_count_ == Stacks(level_)) return false;
  const RememberedFrame* const leaf = &memory.frames[memory.depth - 1];
  uint32_t at = word_count_;
  for (const RememberedFrame* frame = leaf; frame != memory.frames;) {
    --frame;
    // At most two words a frame, and the one that ends them.
    if (at + 3 > Words(level_)) return false;
    words_[at++] = {frame->slot, frame->pc};
    if ((frame->flags & Arrival::kVerifiedRbp) != 0) {
      words_[at++] = {Arrival::SavedRbpAddress(frame->slot, frame->flags), frame->rbp};
    }
  }
  // And the one that ends them.
  if (more_count + 1 > Words(level_) - at) return false;
  for (uint32_t i = 0; i < more_count; ++i) words_[at++] = more[i];
  words_[at] = {reinterpret_cast<uintptr_t>(&g_zero), 1};
  const uint32_t reads_rbp = (leaf->flags & Arrival::kLive) != 0;
  stacks_[stack_count_] = {word_count_, at - word_count_, result, reads_rbp, leaf->rbp};
  const Edge edge = {missed_from_, missed_seen_, stack_count_,
                     AlreadyVerified(stacks_[stack_count_])};
  // Counted first: if there are no stacks, Clear leaves the edges alone.
  ++stack_count_;
  word_count_ = at + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  edges_[PlaceOf(missed_from_, missed_seen_)] = edge;
  return true;
}

// The number of words of the new stack that were compared on the way to the missing edge.
uint32_t VerifiedStacks::AlreadyVerified(const Stack& stack) const {
  if ((missed_from_ & 1) == 0) return 0;
  const Stack& other = stacks_[missed_from_ >> 32];
  const auto count = static_cast<uint32_t>(missed_from_) >> 1;
  if (count == 0 || count > stack.words || stack.reads_rbp != other.reads_rbp ||
      (stack.reads_rbp != 0 && stack.rbp != other.rbp)) {
    return 0;
  }
  const Word* const ours = words_ + stack.first;
  const Word* const theirs = words_ + other.first;
  for (uint32_t i = 0; i < count; ++i) {
    if (ours[i].address != theirs[i].address) return 0;
    if (ours[i].value != (i + 1 < count ? theirs[i].value : missed_seen_)) return 0;
  }
  return count;
}

void VerifiedStacks::Remember(const StartRegisters& start, const StackMemory& memory,
                              uint32_t result, uint8_t tag, const VerifiedWord* more,
                              uint32_t more_count) {
  if (pause_ != 0) {
    --pause_;
    return;
  }
  if (memory.depth > kMaxDepth || !CanBeVerified(memory)) return;
  const bool current = generation_ == memory.generation;
  generation_ = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!current) {
    Clear();
    missed_from_ = start.sp;
    missed_seen_ = Tagged(start.pc, tag);
  }
  if (edges_[PlaceOf(missed_from_, missed_seen_)].from == 0 &&
      !Add(memory, result, more, more_count)) {
    // A larger table keeps stacks longer: only the largest one is judged by its hits.
    if (level_ != kMaxLevel && can_not_grow_ == 0) {
      wants_to_grow_ = 1;
    } else {
      if (hits_ < uint64_t{stack_count_} * kHitsWorthAStack) pause_ = kPause;
      Clear();
    }
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  generation_ = memory.generation;
}

}  // namespace memprof
