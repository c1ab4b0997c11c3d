// A preload that captures the stack of every malloc of a real program three ways: with reuse, from
// scratch, and by libunwind. It also checks whether VerifiedStacks knows the stack, and counts the
// differences. At the end of the process it appends one line to the file MEMPROF_STACK_CHECK:
//
//   captures frames unchanged reuse_mismatches oracle_captures oracle_mismatches incomplete
//   verified verified_mismatches

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "aggregator/unwind/stack_capture.h"
#include "aggregator/unwind/verified_stacks.h"
#include "tests/aggregator/unwind/hash_of_stack.h"

namespace {

using memprof::CaptureResult;
using memprof::CaptureStack;
using memprof::StackMemory;
using memprof::StartRegisters;

struct Counts {
  std::atomic<uint64_t> captures, frames, unchanged, reuse_mismatches;
  std::atomic<uint64_t> oracle_captures, oracle_mismatches, incomplete;
  std::atomic<uint64_t> verified, verified_mismatches;
};

struct ThreadState {
  StackMemory reused;
  StackMemory plain;
  memprof::VerifiedStacks verified;
  uintptr_t last_pcs[memprof::kMaxFrames];
  uintptr_t last_slots[memprof::kMaxFrames];
  void* oracle[memprof::kMaxFrames + 16];
};

Counts g_counts;
std::atomic<bool> g_ready{false};
int (*g_backtrace)(void**, int) = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local ThreadState* t_state = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool t_inside = false;

void Say(const char* what, const ThreadState& state, uint32_t reused, uint32_t plain) {
  if (std::getenv("MEMPROF_STACK_CHECK_VERBOSE") == nullptr) return;
  dprintf(2, "%s: reused %u, plain %u\n", what, reused, plain);
  for (uint32_t i = 0; i < plain; ++i) {
    const uintptr_t pc = state.plain.frames[i].pc;
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(pc - 1), &info);
    dprintf(2, "  %#lx %s %s\n", pc, info.dli_fname,
            info.dli_sname != nullptr ? info.dli_sname : "?");
  }
}

bool SameFrames(const ThreadState& state, const CaptureResult& reused, const CaptureResult& plain) {
  if (reused.depth != plain.depth || reused.truncated != plain.truncated ||
      reused.incomplete != plain.incomplete) {
    return false;
  }
  for (uint32_t i = 0; i < plain.depth; ++i) {
    const memprof::RememberedFrame& a = state.reused.frames[i];
    const memprof::RememberedFrame& b = state.plain.frames[i];
    if (a.pc != b.pc || a.slot != b.slot) return false;
    if (i < reused.unchanged && (a.pc != state.last_pcs[i] || a.slot != state.last_slots[i])) {
      return false;
    }
  }
  return true;
}

// Innermost first, from our caller's caller on. libunwind leaves the pc of an interrupted frame as
// it is, and goes on by frame pointers where there is no unwind data.
bool AgreesWithOracle(ThreadState& state, const StartRegisters& start, const CaptureResult& plain) {
  const int depth = g_backtrace(state.oracle, memprof::kMaxFrames + 16);
  int begin = 0;
  while (begin < depth && reinterpret_cast<uintptr_t>(state.oracle[begin]) != start.pc) ++begin;
  if (begin == depth) return false;
  const auto oracle_depth = static_cast<uint32_t>(depth - begin);
  if (!plain.incomplete && !plain.truncated && oracle_depth != plain.depth) return false;
  for (uint32_t i = 0; i < plain.depth && i < oracle_depth; ++i) {
    const auto theirs = reinterpret_cast<uintptr_t>(state.oracle[begin + static_cast<int>(i)]);
    const uintptr_t ours = state.plain.frames[plain.depth - 1 - i].pc;
    if (ours != theirs && ours != theirs + 1) return false;
  }
  return true;
}

[[gnu::noinline]] void CheckStack(const StartRegisters& start) {
  if (t_state == nullptr) {
    void* memory = mmap(nullptr, sizeof(ThreadState), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    t_state = static_cast<ThreadState*>(memory);
  }
  ThreadState& state = *t_state;
  const uint32_t verified = state.verified.Find(start);
  const CaptureResult reused = CaptureStack(start, state.reused);
  state.plain.depth = 0;
  const CaptureResult plain = CaptureStack(start, state.plain);
  g_counts.captures += 1;
  g_counts.frames += plain.depth;
  g_counts.unchanged += reused.unchanged;
  if (plain.incomplete) g_counts.incomplete += 1;
  if (!SameFrames(state, reused, plain)) {
    g_counts.reuse_mismatches += 1;
    Say("reuse differs", state, reused.depth, plain.depth);
  }
  const uint32_t hash = memprof::test::HashOfStack(state.plain, plain.depth);
  if (verified != memprof::VerifiedStacks::kNone) {
    g_counts.verified += 1;
    if (verified != hash || plain.truncated || plain.incomplete) {
      g_counts.verified_mismatches += 1;
      Say("verified is another", state, 0, plain.depth);
    }
  } else if (state.reused.depth == reused.depth && !reused.incomplete) {
    state.verified.Remember(start, state.reused, hash);
    if (state.verified.wants_to_grow()) {
      state.verified.Grow([](void*, size_t) { return true; });
    }
  }
  for (uint32_t i = 0; i < reused.depth; ++i) {
    state.last_pcs[i] = state.reused.frames[i].pc;
    state.last_slots[i] = state.reused.frames[i].slot;
  }
  if (g_backtrace != nullptr) {
    g_counts.oracle_captures += 1;
    if (!AgreesWithOracle(state, start, plain)) {
      g_counts.oracle_mismatches += 1;
      Say("libunwind differs", state, 0, plain.depth);
    }
  }
}

[[gnu::constructor]] void Begin() {
  t_inside = true;
  if (void* library = dlopen("libunwind.so.8", RTLD_LOCAL | RTLD_NOW); library != nullptr) {
    g_backtrace = reinterpret_cast<int (*)(void**, int)>(dlsym(library, "unw_backtrace"));
  }
  g_ready = memprof::InitUnwinder();
  t_inside = false;
}

[[gnu::destructor]] void End() {
  const char* path = std::getenv("MEMPROF_STACK_CHECK");
  if (path == nullptr || !g_ready.exchange(false)) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  dprintf(file, "%lu %lu %lu %lu %lu %lu %lu %lu %lu\n", g_counts.captures.load(),
          g_counts.frames.load(), g_counts.unchanged.load(), g_counts.reuse_mismatches.load(),
          g_counts.oracle_captures.load(), g_counts.oracle_mismatches.load(),
          g_counts.incomplete.load(), g_counts.verified.load(),
          g_counts.verified_mismatches.load());
  close(file);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void* malloc(size_t bytes) {
  if (g_ready.load(std::memory_order_relaxed) && !t_inside) {
    t_inside = true;
    const int saved_errno = errno;
    auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
    CheckStack({reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                reinterpret_cast<uintptr_t>(frame + 2), *frame});
    errno = saved_errno;
    t_inside = false;
  }
  // The next definition, which may be another allocator's. Finding it doesn't allocate.
  static std::atomic<void* (*)(size_t)> next{nullptr};
  auto* real = next.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_NEXT, "malloc"));
    next.store(real, std::memory_order_relaxed);
  }
  return real(bytes);
}

extern "C" [[gnu::visibility("default")]] int dlclose(void* module) {
  static auto* const real = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  memprof::InvalidateUnwinder();
  const int result = real(module);
  memprof::InvalidateUnwinder();
  return result;
}
