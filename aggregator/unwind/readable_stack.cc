#include "aggregator/unwind/readable_stack.h"

#include <initializer_list>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"

namespace memprof {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kFarthestOwnEnd = 1u << 20;  // from the last frame to the stack's end
constexpr uint64_t kAttempts = 8;

uintptr_t g_main_stack_end = 0;
uintptr_t g_main_stack_room = 0;

constexpr uintptr_t PageOf(uintptr_t address) { return address & ~(kPage - 1); }

// The kernel's error for an address that can't be read: -ENOMEM for unmapped memory, -EFAULT.
constexpr long kNoMemory = -12;
constexpr long kFault = -14;

// MADV_POPULATE_READ (Linux 5.14) reads the page and says whether it could.
long PopulateForReading(uintptr_t page) {
  constexpr long kPopulateRead = 22;
  constexpr long kPageBytes = 4096;
  return kernel::Call(SYS_madvise, page, kPageBytes, kPopulateRead);
}

// Used if MADV_POPULATE_READ isn't known or not allowed. rt_sigprocmask copies the new mask in
// before it looks at `how`. With an invalid `how` it changes nothing, and distinguishes EFAULT from
// EINVAL.
long ReadMaskFrom(uintptr_t page) {
  constexpr long kNoSuchHow = 0x7fff;
  constexpr long kMaskBytes = 8;
  return kernel::Call(SYS_rt_sigprocmask, kNoSuchHow, page, 0, kMaskBytes);
}

// True if an address below the known part of the main thread's stack, where a frame lies, belongs
// to that stack.
bool IsMainStack(uintptr_t address) { return g_main_stack_end - address < g_main_stack_room; }

}  // namespace

bool IsPageReadable(uintptr_t page) {
  if (SystemCallsFiltered()) return false;
  constexpr long kInvalid = -22;  // both return it for an argument that they don't know
  const long populated = PopulateForReading(page);
  if (populated == 0) return true;
  if (populated == kNoMemory || populated == kFault) return false;
  return ReadMaskFrom(page) == kInvalid;
}

void SetMainStack(uintptr_t end, uintptr_t room) {
  g_main_stack_end = end;
  g_main_stack_room = room;
}

ReadableStack::ReadableStack(const PermanentStack& permanent, uintptr_t own_word)
    : permanent_(permanent) {
  is_permanent_ =
      permanent_.range.Contains(own_word) && permanent_.thread_pointer == ThreadPointer();
  if (is_permanent_) {
    SetRange(permanent_.range.begin, permanent_.range.end);
  } else {
    SetRange(PageOf(own_word), PageOf(own_word) + kPage);
  }
}

bool ReadableStack::GrowTo(uintptr_t new_end) {
  const bool may_join = permanent_.thread_pointer == ThreadPointer();
  while (end() < new_end) {
    if (may_join && permanent_.range.Contains(end())) {
      // The pages below the permanent range belong to this thread's stack as well: it has grown.
      SetRange(begin_, permanent_.range.end);
      permanent_.range.begin = begin_;
      is_permanent_ = true;
      continue;
    }
    if (may_join && SystemCallsFiltered() && IsMainStack(begin_) &&
        permanent_.range.Contains(g_main_stack_end) && end() < permanent_.range.begin) {
      SetRange(begin_, permanent_.range.begin);
      continue;
    }
    if (!IsPageReadable(end())) return false;
    last_offset_ += kPage;
  }
  return true;
}

bool ReadableStack::Grow(uintptr_t address, uintptr_t farthest) {
  const uintptr_t word_end = address + sizeof(uintptr_t);
  if (word_end < address || word_end <= end()) return Contains(address);
  if (word_end - end() > farthest) return false;
  return GrowTo(PageOf(word_end - 1) + kPage) && Contains(address);
}

bool ReadableStack::Jump(uintptr_t address) {
  if (permanent_.range.Contains(address) && permanent_.thread_pointer == ThreadPointer()) {
    SetRange(permanent_.range.begin, permanent_.range.end);
    is_permanent_ = true;
    return Contains(address);
  }
  const uintptr_t page = PageOf(address);
  if (page == 0 || address - page > kPage - sizeof(uintptr_t) || !IsPageReadable(page)) {
    return false;
  }
  SetRange(page, page + kPage);
  is_permanent_ = false;
  return true;
}

bool ReadableStack::Read(uintptr_t address, uintptr_t& word) const {
  if (!Contains(address)) {
    const uintptr_t last = address + sizeof(uintptr_t) - 1;
    if (last < address || !IsPageReadable(PageOf(address))) return false;
    if (PageOf(last) != PageOf(address) && !IsPageReadable(PageOf(last))) return false;
  }
  word = LoadWord(address);
  return true;
}

void ReadableStack::KeepIfOwnStack() {
  if (is_permanent_) return;
  const uintptr_t thread_pointer = ThreadPointer();
  if (permanent_.thread_pointer != thread_pointer) permanent_ = {{}, thread_pointer, 0};
  if (permanent_.range.end != 0 || permanent_.attempts == kAttempts) return;
  ++permanent_.attempts;
  for (const uintptr_t own_end : {g_main_stack_end, thread_pointer}) {
    if (own_end < begin_ || (own_end > end() && own_end - end() > kFarthestOwnEnd)) continue;
    if (own_end >= end() && !GrowTo(PageOf(own_end) + kPage)) continue;
    is_permanent_ = true;
    permanent_.range = {begin_, end()};
    return;
  }
}

}  // namespace memprof
