// ReadableStack: tells which stack memory may be read without a fault, with one compare a word.
//
// CFI is trusted to describe code, but not to keep the program alive: hand-written assembly with
// wrong CFI, a module that was replaced or a smashed stack may send the walk anywhere. So a word is
// read only from [begin, end) of the current range. The range starts as the page of the hook's own
// return address, which was just written. It grows upwards page by page; each page is probed by a
// system call that fails instead of faulting. Probing every page at every capture would be slow,
// hence:
//
//   permanent range   A thread's own stack can't be unmapped while the thread lives, and glibc puts
//                     the thread control block at its upper end (for the main thread ld.so has
//                     __libc_stack_end). If every page from the stack pointer up to one of these
//                     was probed, the range is this thread's stack and stays readable. StackMemory
//                     keeps it, and no later capture probes these pages again. It is used only
//                     while the thread pointer is the same.
//   other stacks      sigaltstack, ucontext and coroutine stacks may be gone at the next capture:
//                     their pages are probed each time (about 0.4 µs a page).
//   filtered calls    Once the program filters its system calls nothing is probed: only the
//                     permanent range and the page of the hook are readable. The main thread's
//                     stack may have grown. The kernel maps nothing else near that stack by itself,
//                     so the memory below a range that ends with it is the same stack.
//
// Thread safety: on one thread's stack. Async-signal-safe; raw system calls, errno untouched.
// Invariants
//   1. Every page of [begin, end) was probed in this capture, or in an earlier one of the same
//      thread as part of its permanent range; or lies between such a page and the stack pointer of
//      the main thread.
//   2. The range only grows, or is replaced by Jump.
#pragma once

#include <cstdint>

#include "aggregator/unwind/byte_cursor.h"

namespace memprof {

// A StackMemory's knowledge of its thread's own stack.
struct PermanentStack {
  ByteRange range;           // empty: not known
  uintptr_t thread_pointer;  // the thread for which it was searched
  uint64_t attempts;         // failed attempts to find it
};

inline uintptr_t ThreadPointer() {
  uintptr_t pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

// True if the word at `address` is in the known part of the calling thread's own stack.
inline bool IsOwnStack(const PermanentStack& stack, uintptr_t address) {
  return stack.range.Contains(address) && stack.thread_pointer == ThreadPointer();
}

// The end of the main thread's stack (ld.so's __libc_stack_end), and how far it may grow. Set once
// by InitUnwinder.
void SetMainStack(uintptr_t end, uintptr_t room);

class ReadableStack {
 public:
  // `own_word` is a word of the caller's stack that is known to be mapped.
  ReadableStack(const PermanentStack& permanent, uintptr_t own_word);

  bool Contains(uintptr_t address) const { return address - begin_ <= last_offset_; }
  uintptr_t begin() const { return begin_; }

  // Grows the range upwards over the word at `address`. False: some page up to there is not
  // readable, or it is more than `farthest` bytes above the range.
  bool Grow(uintptr_t address, uintptr_t farthest);

  // Makes the range the page of the word at `address`, on any stack.
  bool Jump(uintptr_t address);

  // Reads a word anywhere. Outside the range it is probed, and the range doesn't change.
  bool Read(uintptr_t address, uintptr_t& word) const;

  // Call it at the end of a walk: if all pages from the range to the end of this thread's own stack
  // are readable, it becomes permanent. Tried a few times for a thread, which may live on other
  // stacks.
  void KeepIfOwnStack();

  const PermanentStack& permanent() const { return permanent_; }

 private:
  void SetRange(uintptr_t begin, uintptr_t end) {
    begin_ = begin;
    last_offset_ = end - begin - sizeof(uintptr_t);
  }
  uintptr_t end() const { return begin_ + last_offset_ + sizeof(uintptr_t); }
  bool GrowTo(uintptr_t new_end);

  uintptr_t begin_;
  uintptr_t last_offset_;  // of the last whole word
  bool is_permanent_;
  PermanentStack permanent_;
};

// Asks the kernel, by a call that fails instead of faulting. False also if the program filters its
// system calls.
bool IsPageReadable(uintptr_t page);

// Reads a word of this process's memory that is known to be readable.
inline uintptr_t LoadWord(uintptr_t address) {
  using StackWord [[gnu::may_alias, gnu::aligned(1)]] = uintptr_t;
  return *reinterpret_cast<const volatile StackWord*>(address);
}

}  // namespace memprof
