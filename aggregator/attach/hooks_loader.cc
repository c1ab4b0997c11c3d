// dlopen and dlsym of a process that was attached to: modules that come later have to be hooked
// too.
//
// Both functions depend on their caller (RUNPATH, RTLD_NEXT), which the loader takes from the
// return address. So the hooks do their own part and then jump to the real function, which returns
// to the caller. dlopen's hook can't see the modules that it brings. The thread's next dlsym can,
// before any of their functions is called except the constructors.

#include "aggregator/attach/got_slots.h"
#include "aggregator/hooks/bypasses.h"
#include "aggregator/hooks/jump_hook.h"
#include "aggregator/state/counting.h"

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

// A module opened with RTLD_DEEPBIND is hooked like all others.
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
