// Bypasses: modules whose calls of malloc and free bypass the hooks because of how they were
// opened.
//
//   dlopen(RTLD_DEEPBIND)  the module's references are bound in its own scope first, which has libc
//   dlmopen                another link-map namespace has a libc of its own, with a heap of its own
//
// The hooks of dlopen and dlmopen continue in the real functions by a jump, so they don't see which
// modules these bring. So the hook reports a bypass at once (RegionHeader.bypasses). The next
// dlopen, dlclose or exit looks at the modules, and takes the report back if there is no such
// module.
//
// A GOT slot that isn't bound yet (lazy binding) was never called through. It is looked at again.
//
// Thread safety: any thread. The loader's lists are read under its lock on them, which it holds
// only while it changes them.
#pragma once

namespace memprof {

// A module is about to be opened.
void BeforeDeepBind();
void BeforeNamespace();

// Looks at the new modules, if one of the two functions above was called since the last look.
void LookForBypasses();
void BeforeClose();

// The last look, at exit: a bypass that isn't found now is no longer reported.
void LookForBypassesAtEnd();

// Repeats the reports in this process's new region.
void PublishBypasses();

}  // namespace memprof
