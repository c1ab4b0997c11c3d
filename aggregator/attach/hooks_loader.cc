// dlopen and dlsym of a process that was attached to: modules that come later are to be hooked too.
//
// Both depend on whose reference it is (RUNPATH, RTLD_NEXT), which the loader takes from the return
// address. So the hooks do what is theirs and then jump to the real function, which returns to the
// caller. dlopen's can't see what it brought: the thread's next dlsym does, before anything
// of it is called but its constructors.

#include "aggregator/attach/got_slots.h"
#include "aggregator/hooks/bypasses.h"
#include "aggregator/hooks/jump_hook.h"
#include "aggregator/tracker.h"

namespace {

// This thread has called dlopen since it last looked.
thread_local constinit bool opened __attribute__((tls_model("initial-exec"))) = false;

void BeforeOpen() {
  if (!memprof::CountsAnything()) return;
  memprof::HookNewModules(opened);
  opened = true;
}

void BeforeSymbol() {
  if (!memprof::CountsAnything()) return;
  memprof::HookNewModules(opened);
  opened = false;
}

}  // namespace

extern "C" {

extern void* memprof_real_loader[4] __attribute__((visibility("hidden")));

// A module opened with RTLD_DEEPBIND is hooked as all others are.
MEMPROF_BEFORE_JUMP memprof_before_dlopen() {
  BeforeOpen();
  return memprof_real_loader[0];
}

MEMPROF_BEFORE_JUMP memprof_before_dlmopen(long space) {
  BeforeOpen();
  if (space != 0) memprof::BeforeNamespace();
  return memprof_real_loader[1];
}

MEMPROF_BEFORE_JUMP memprof_before_dlsym() {
  BeforeSymbol();
  return memprof_real_loader[2];
}

MEMPROF_BEFORE_JUMP memprof_before_dlvsym() {
  BeforeSymbol();
  return memprof_real_loader[3];
}

}  // extern "C"

MEMPROF_JUMP_HOOK(memprof_hook_dlopen, ".hidden", memprof_before_dlopen);
MEMPROF_JUMP_HOOK(memprof_hook_dlmopen, ".hidden", memprof_before_dlmopen);
MEMPROF_JUMP_HOOK(memprof_hook_dlsym, ".hidden", memprof_before_dlsym);
MEMPROF_JUMP_HOOK(memprof_hook_dlvsym, ".hidden", memprof_before_dlvsym);
