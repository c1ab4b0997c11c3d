// dlopen and dlsym of a process that was attached to: modules that come later are to be hooked too.
//
// Both depend on whose reference it is (RUNPATH, RTLD_NEXT), which the loader takes from the return
// address. So the hooks do what is theirs and then jump to the real function, which returns to the
// caller. dlopen's can't see what it brought: the thread's next dlsym does, before anything
// of it is called but its constructors.

#include "aggregator/attach/got_slots.h"
#include "aggregator/hooks/errno_guard.h"
#include "aggregator/tracker.h"

namespace {

// This thread has called dlopen since it last looked.
thread_local constinit bool opened __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

extern "C" {

__attribute__((visibility("hidden"), used)) void memprof_before_dlopen() {
  if (!memprof::CountsAnything()) return;
  memprof::HookNewModules(opened);
  opened = true;
}

__attribute__((visibility("hidden"), used)) void memprof_before_dlsym() {
  if (!memprof::CountsAnything()) return;
  memprof::HookNewModules(opened);
  opened = false;
}

}  // extern "C"

// Three arguments at most; the stack is aligned for the call with them on it.
#define MEMPROF_JUMP_HOOK(name, before, index) \
  __asm__(                                     \
      ".text\n"                                \
      ".hidden memprof_hook_" #name            \
      "\n"                                     \
      ".globl memprof_hook_" #name             \
      "\n"                                     \
      ".type memprof_hook_" #name              \
      ", @function\n"                          \
      "memprof_hook_" #name                    \
      ":\n"                                    \
      ".cfi_startproc\n"                       \
      "endbr64\n"                              \
      "pushq %rdi\n"                           \
      ".cfi_adjust_cfa_offset 8\n"             \
      "pushq %rsi\n"                           \
      ".cfi_adjust_cfa_offset 8\n"             \
      "pushq %rdx\n"                           \
      ".cfi_adjust_cfa_offset 8\n"             \
      "call " #before                          \
      "\n"                                     \
      "popq %rdx\n"                            \
      ".cfi_adjust_cfa_offset -8\n"            \
      "popq %rsi\n"                            \
      ".cfi_adjust_cfa_offset -8\n"            \
      "popq %rdi\n"                            \
      ".cfi_adjust_cfa_offset -8\n"            \
      "jmp *memprof_real_loader+8*" #index     \
      "(%rip)\n"                               \
      ".cfi_endproc\n"                         \
      ".size memprof_hook_" #name ", .-memprof_hook_" #name "\n")

MEMPROF_JUMP_HOOK(dlopen, memprof_before_dlopen, 0);
MEMPROF_JUMP_HOOK(dlmopen, memprof_before_dlopen, 1);
MEMPROF_JUMP_HOOK(dlsym, memprof_before_dlsym, 2);
MEMPROF_JUMP_HOOK(dlvsym, memprof_before_dlsym, 3);
