// VerifiedStacks: whole stacks that a thread allocated from, each with its result, so that a
// repeated stack is neither walked nor looked up: it is verified word by word.
//
// A walk is a function of the state that it starts with (pc, sp and, if a step reads it, rbp) and
// of the words that it reads. So a stack is kept as these words, innermost first. If the state is
// the same and every word is unchanged, the walk would be the same.
//
// A program allocates through few functions, so many stacks begin alike. The stacks are a trie: if
// a word differs, an edge leads to the stack that has this other word there.
//
//   edge  (sp, pc + tag)      → stack 0:  [a]=f  [b]=g  [c]=main  …            result 7
//   edge  (stack 0, word 1 = h) → stack 1:  [a]=f  [b]=h  [c]=main  …            result 9
//         the words before it are the same, so they are not compared again
//
// The result of a stack may depend on more than the stack (the function of the allocator): that is
// its tag. A stack with two tags is two stacks, each in a trie of its own, since every path to it
// begins with an edge of its tag.
//
// The steps after a saved rbp decide whether a walk reads it. Two stacks with the same start may
// therefore list different words of it: the edge then leads to the begin of the stack.
//
// Thread safety: only for its thread, and not for a signal handler that interrupts it.
// Memory: arrays of their largest size, 1.6 MiB. The first 94 KiB are available from the begin;
// Grow makes more available if more stacks were repeated than there is room for.
// Invariants
//   1. A stack's own words are in the thread's own stack (CanBeVerified): they can be read at any
//      time. Further words follow them, and are read only if all before them are unchanged.
//   2. generation_ is that of the modules when all the stacks in here were captured. It is 0 while
//      something is being changed, in case a signal handler leaves the change by longjmp.
//   3. words_ of a stack end with one that never matches.
//   4. While stack_count_ is 0 there are no edges, even if a signal handler left a change.
//   5. Each array is used only as far as its limit at level_ says.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/unwind/readable_stack.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// A word that a stack depends on, and its value then.
struct VerifiedWord {
  uintptr_t address;
  uintptr_t value;
};

class VerifiedStacks {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The result of the caller's stack; kNone: it is not known. It is a function of its own and calls
  // none, so that everything it needs has a register and none is saved.
  [[gnu::noinline]] uint32_t Find(const StartRegisters& start, uint8_t tag = 0) {
    const uint64_t seen = Tagged(start.pc, tag);
    if (__builtin_expect(generation_ != UnwinderGeneration(), 0)) return Miss(start.sp, seen);
    return FindFrom(start, start.sp, seen, true);
  }

  // Remembers that the stack that begins with `start` leads to `result`. Find has just not found
  // this stack, and it was then captured into `memory`.
  // `more` words are compared after the stack's: the result depends on these as well. Each is
  // readable as long as all words before it are unchanged.
  void Remember(const StartRegisters& start, const StackMemory& memory, uint32_t result,
                uint8_t tag = 0, const VerifiedWord* more = nullptr, uint32_t more_count = 0);

  void Forget() { generation_ = 0; }

  // There was no room for a repeated stack, and Grow can make some.
  bool wants_to_grow() const { return wants_to_grow_ != 0; }

  // `commit(start, bytes)` makes memory of this object usable, zeroed, and returns whether it
  // succeeded. Forgets all remembered stacks.
  template <typename Commit>
  void Grow(Commit commit) {
    wants_to_grow_ = 0;
    const uint32_t next = level_ + 1;
    const auto more = [&](auto* array, size_t have, size_t need) {
      return commit(array + have, sizeof *array * (need - have));
    };
    if (next > kMaxLevel || !more(edges_, Edges(level_), Edges(next)) ||
        !more(stacks_, Stacks(level_), Stacks(next)) || !more(words_, Words(level_), Words(next))) {
      can_not_grow_ = 1;
      return;
    }
    generation_ = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Clear();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    level_ = next;
  }

  // Commits the memory that is used before Grow.
  template <typename Commit>
  bool CommitFirst(Commit commit) {
    return commit(this, kHeaderBytes) && commit(edges_, sizeof(Edge) * Edges(0)) &&
           commit(stacks_, sizeof(Stack) * Stacks(0)) && commit(words_, sizeof(Word) * Words(0));
  }

  // How much memory the next Grow asks for.
  size_t BytesToGrow() const { return BytesAt(level_ + 1) - BytesAt(level_); }

 private:
  static constexpr uint32_t kMaxDepth = 512;  // deeper stacks aren't worth the room
  static constexpr uint32_t kMaxHops = 16;

  // Each level has four times as much room as the one before.
  static constexpr uint32_t kMaxLevel = 2;
  static constexpr unsigned kFirstEdgeBits = 10;
  static constexpr uint32_t kFirstStacks = 256;
  static constexpr uint32_t kFirstWords = 4096;
  static unsigned EdgeBits(uint32_t level) { return kFirstEdgeBits + 2 * level; }
  static size_t Edges(uint32_t level) { return size_t{1} << EdgeBits(level); }
  static uint32_t Stacks(uint32_t level) { return kFirstStacks << (2 * level); }
  static uint32_t Words(uint32_t level) { return kFirstWords << (2 * level); }
  static size_t BytesAt(uint32_t level) {
    return sizeof(Edge) * Edges(level) + sizeof(Stack) * Stacks(level) +
           sizeof(Word) * Words(level);
  }
  static constexpr size_t kHeaderBytes = 4096;

  using Word = VerifiedWord;
  struct Stack {
    uint32_t first;  // index of its first word
    uint32_t words;
    uint32_t result;
    uint32_t reads_rbp;  // the walk reads the initial rbp
    uintptr_t rbp;
  };
  struct Edge {
    uint64_t from;  // sp, which is even, or From
    uint64_t seen;  // the tagged pc, the rbp or the word that was found there
    uint32_t stack;
    // number of its words that are known to be unchanged; 0: rbp isn't known either
    uint32_t verified;
  };

  // A pc is below 2^47.
  static uint64_t Tagged(uintptr_t pc, uint8_t tag) { return pc | uint64_t{tag} << 56; }
  // The point at which a stack turned out to be another: at rbp (0) or at the last of so many
  // words.
  static uint64_t From(uint32_t stack, uint32_t words) {
    return (uint64_t{stack} << 32 | uint64_t{words} << 1) | 1;
  }
  size_t HashOf(uint64_t from, uint64_t seen) const {
    return ((from << 7) + from + seen) * 0x9e3779b97f4a7c15ull >> ((0u - EdgeBits(level_)) % 64);
  }
  uint32_t Miss(uint64_t from, uint64_t seen) {
    missed_from_ = from;
    missed_seen_ = seen;
    return kNone;
  }

  // `first_places`: looks only where an edge's hash says, and leaves the rest to FindFurther, which
  // calls PlaceOf.
  [[gnu::always_inline]] uint32_t FindFrom(const StartRegisters& start, uint64_t from,
                                           uint64_t seen, bool first_places) {
    for (uint32_t hops = 0; hops < kMaxHops; ++hops) {
      const Edge* edge;
      if (first_places) {
        edge = &edges_[HashOf(from, seen)];
        if (__builtin_expect(edge->from != from || edge->seen != seen, 0)) {
          return FindFurther(start, from, seen);
        }
      } else {
        edge = &edges_[PlaceOf(from, seen)];
        if (edge->from == 0) break;
      }
      const Stack& stack = stacks_[edge->stack];
      if (edge->verified == 0 && stack.reads_rbp != 0 && stack.rbp != start.rbp) {
        from = From(edge->stack, 0);
        seen = start.rbp;
        continue;
      }
      const Word* const words = words_ + stack.first;
      const Word* const word = FirstDifferent(words + edge->verified);
      const auto count = static_cast<uint32_t>(word - words);
      if (count == stack.words) {
        ++hits_;
        return stack.result;
      }
      from = From(edge->stack, count + 1);
      seen = LoadWord(word->address);
    }
    return Miss(from, seen);
  }
  [[gnu::noinline]] uint32_t FindFurther(const StartRegisters& start, uint64_t from,
                                         uint64_t seen) {
    return FindFrom(start, from, seen, false);
  }

  // The place of the edge, or a free place for it: at most a quarter of the table is used.
  [[gnu::noinline]] size_t PlaceOf(uint64_t from, uint64_t seen) const {
    size_t at = HashOf(from, seen);
    while (edges_[at].from != 0 && (edges_[at].from != from || edges_[at].seen != seen)) {
      at = (at + 1) % Edges(level_);
    }
    return at;
  }

  // The first word that has changed. There is one, since Add puts a word at the end that never
  // matches. Unrolled: a step of the loop costs nearly as much as a comparison.
  [[gnu::always_inline]] static const Word* FirstDifferent(const Word* word) {
    const auto differs = [](const Word& w) __attribute__((always_inline)) {
      return LoadWord(w.address) != w.value;
    };
    for (;; word += 4) {
      if (differs(word[0])) return word;
      if (differs(word[1])) return word + 1;
      if (differs(word[2])) return word + 2;
      if (differs(word[3])) return word + 3;
    }
  }

  bool Add(const StackMemory& memory, uint32_t result, const VerifiedWord* more,
           uint32_t more_count);
  uint32_t AlreadyVerified(const Stack& stack) const;
  void Clear() {
    if (stack_count_ != 0) __builtin_memset(edges_, 0, sizeof(Edge) * Edges(level_));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    stack_count_ = 0;
    word_count_ = 0;
    hits_ = 0;
  }

  uint32_t generation_;
  uint32_t level_;
  uint32_t wants_to_grow_;
  uint32_t can_not_grow_;
  uint32_t stack_count_;
  uint32_t word_count_;
  uint32_t pause_;  // stacks that are not remembered, because too few were repeated
  uint64_t hits_;
  uint64_t missed_from_;  // the edge that Find did not find
  uint64_t missed_seen_;
  alignas(kHeaderBytes) Edge edges_[size_t{1} << (kFirstEdgeBits + 2 * kMaxLevel)];
  alignas(4096) Stack stacks_[kFirstStacks << (2 * kMaxLevel)];
  alignas(4096) Word words_[kFirstWords << (2 * kMaxLevel)];
};

}  // namespace memprof
