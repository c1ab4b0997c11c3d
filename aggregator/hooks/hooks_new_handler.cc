// std::set_new_handler and std::get_new_handler. A new-handler is the program's own code, but the
// real operator new calls it while the thread's kInAllocator says that everything is one event. So
// an operator new that asks for the handler gets RunHandler, which clears the flag during the call:
//
//   operator new (ours, sets kInAllocator) ─► the real one ─► get_new_handler (ours): RunHandler
//                                                         └─► RunHandler ─► the program's handler
//
// libstdc++ asks with get_new_handler. Allocators such as jemalloc ask with a pair of
// set_new_handler, to null and back, so the argument is translated back too. The program itself
// only ever sees its own handler.

#include <atomic>

#include "aggregator/hooks/hook.h"

using namespace memprof;

namespace {

using NewHandler = void (*)();

// The program's handler behind the RunHandler that this thread's operator new got last.
thread_local constinit NewHandler given __attribute__((tls_model("initial-exec"))) = nullptr;

// Used if nobody has set_new_handler: nobody calls the handler then, but the program can ask for
// it.
constinit std::atomic<NewHandler> without_library{nullptr};

}  // namespace

extern "C" {

// An exception of the handler's passes: the real operator new, which may catch it, goes on.
__attribute__((visibility("hidden"), used)) int memprof_handler_personality(int, int actions,
                                                                            uint64_t, void*,
                                                                            void*) {
  constexpr int kCleanupPhase = 2;    // _UA_CLEANUP_PHASE
  constexpr int kContinueUnwind = 8;  // _URC_CONTINUE_UNWIND
  // The scope's stack pointer isn't known here.
  if ((actions & kCleanupPhase) != 0) thread_state.scope |= kInAllocator | kUnknownScope;
  return kContinueUnwind;
}

}  // extern "C"

namespace {

// Pre: kInAllocator.
[[gnu::noinline]] void RunAsProgram(NewHandler handler) {
  // 0x1b: DW_EH_PE_pcrel | DW_EH_PE_sdata4.
  __asm__ volatile(".cfi_personality 0x1b, memprof_handler_personality");
  const uintptr_t before = thread_state.scope;
  LeaveScope(before & ~kInAllocator);
  handler();
  LeaveScope(before);
}

void RunHandler() {
  const NewHandler handler = given;
  if (handler == nullptr) return;
  if (InAllocator()) {
    RunAsProgram(handler);
  } else {
    handler();
  }
}

NewHandler Translated(NewHandler handler) {
  if (handler == nullptr || !InAllocator()) return handler;
  given = handler;
  return RunHandler;
}

NewHandler CurrentHandler(uintptr_t caller) {
  auto* next = Next<NewHandler()>(NextFunction::_ZSt15get_new_handlerv, caller);
  return next != nullptr ? next() : without_library.load(std::memory_order_acquire);
}

}  // namespace

extern "C" {

MEMPROF_HOOK NewHandler _ZSt15get_new_handlerv() {
  return Translated(CurrentHandler(MEMPROF_RETURN()));
}

MEMPROF_HOOK NewHandler _ZSt15set_new_handlerPFvvE(NewHandler handler) {
  auto* next =
      Next<NewHandler(NewHandler)>(NextFunction::_ZSt15set_new_handlerPFvvE, MEMPROF_RETURN());
  if (handler == RunHandler) handler = given;
  if (next != nullptr) return Translated(next(handler));
  return Translated(without_library.exchange(handler, std::memory_order_acq_rel));
}

}  // extern "C"
