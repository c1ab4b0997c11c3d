#include "aggregator/unwind/libunwind_fallback.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>

#include "aggregator/unwind/stack_capture.h"
#include "core/region_layout.h"

namespace memprof {
namespace {

// libunwind-x86_64.h's contract, kept since 1.0: the numbers are DWARF's, a cursor is 127 words.
constexpr int kIp = 16;
constexpr int kSp = 7;
constexpr int kBp = 6;
constexpr int kCacheNone = 0;
struct Cursor {
  uint64_t opaque[127];
};

struct Libunwind {
  int (*get_context)(ucontext_t*);
  int (*init_local)(Cursor*, ucontext_t*);
  int (*step)(Cursor*);
  int (*get_register)(Cursor*, int, uintptr_t*);
  int (*is_signal_frame)(Cursor*);
  int (*set_caching)(void*, int);
  void* address_space;
};

Libunwind g_libunwind;
std::atomic<bool> g_loaded{false};
std::atomic<bool> g_uncached{false};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The unwinder's and the hook's own frames come first.
constexpr uint32_t kMaxSteps = kMaxFrames + 64;

// The frame that the cursor is at. libunwind calls the interrupted frame the signal frame, not the
// trampoline.
bool Read(Cursor& cursor, FallbackFrame& frame) {
  if (g_libunwind.get_register(&cursor, kIp, &frame.pc) != 0 ||
      g_libunwind.get_register(&cursor, kSp, &frame.sp) != 0) {
    return false;
  }
  if (g_libunwind.get_register(&cursor, kBp, &frame.rbp) != 0) frame.rbp = 0;
  if (frame.pc != 0 && g_libunwind.is_signal_frame(&cursor) > 0) ++frame.pc;
  return true;
}

// Not inlined: get_context describes this frame.
[[gnu::noinline]] bool Walk(uintptr_t pc, uintptr_t sp, FallbackFrame& caller, bool& outermost) {
  ucontext_t context;
  Cursor cursor;
  if (g_libunwind.get_context(&context) != 0) return false;
  if (g_libunwind.init_local(&cursor, &context) != 0) return false;
  FallbackFrame frame;
  for (uint32_t steps = 0; steps < kMaxSteps && Read(cursor, frame); ++steps) {
    const int result = g_libunwind.step(&cursor);
    if (frame.pc == pc && frame.sp == sp) {
      outermost = result == 0;
      return result > 0 && Read(cursor, caller);
    }
    if (result <= 0) return false;
  }
  return false;
}

// At the first use, not before: it makes libunwind open a pipe, which the few programs that need it
// have among their descriptors then.
bool IsUncached() {
  if (g_uncached.load(std::memory_order_acquire)) return true;
  if (g_libunwind.set_caching(g_libunwind.address_space, kCacheNone) != 0) return false;
  g_uncached.store(true, std::memory_order_release);
  return true;
}

}  // namespace

bool LoadUnwinderFallback() {
  if (g_loaded.load(std::memory_order_acquire)) return true;
  void* library = dlopen("libunwind.so.8", RTLD_LOCAL | RTLD_NOW);
  if (library == nullptr) return false;
  // The local variant (_UL…) has the names of the `-x86_64` build's local-only unwinder.
  void** address_space_variable = nullptr;
  if (!Find(library, "_Ux86_64_getcontext", g_libunwind.get_context) ||
      !Find(library, "_ULx86_64_init_local", g_libunwind.init_local) ||
      !Find(library, "_ULx86_64_step", g_libunwind.step) ||
      !Find(library, "_ULx86_64_get_reg", g_libunwind.get_register) ||
      !Find(library, "_ULx86_64_is_signal_frame", g_libunwind.is_signal_frame) ||
      !Find(library, "_ULx86_64_set_caching_policy", g_libunwind.set_caching) ||
      !Find(library, "_ULx86_64_local_addr_space", address_space_variable)) {
    return false;
  }
  g_libunwind.address_space = *address_space_variable;
  g_loaded.store(true, std::memory_order_release);
  return true;
}

bool HasLibunwind() { return g_loaded.load(std::memory_order_acquire); }

bool StepByLibunwind(uintptr_t pc, uintptr_t sp, FallbackFrame& caller, bool& outermost) {
  const int saved_errno = errno;
  outermost = false;
  const bool stepped = HasLibunwind() && IsUncached() && Walk(pc, sp, caller, outermost);
  errno = saved_errno;
  return stepped;
}

}  // namespace memprof
