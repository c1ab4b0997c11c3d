// Bypasses: modules whose calls of malloc and free pass by the hooks, since they were opened so.
//
//   dlopen(RTLD_DEEPBIND)  the module's references are bound in its own scope first, which has libc
//   dlmopen                another link-map namespace has a libc of its own, with a heap of its own
//
// The hooks of dlopen and dlmopen go on in the real functions by a jump, so they don't see what
// these bring. What was asked for is told at once (RegionHeader.bypasses), and taken back by a look
// that finds nothing of the kind: at the next dlopen, before a dlclose and at exit.
//
// A slot that isn't bound yet (lazy binding) was never called through. It is looked at again.
//
// Thread safety: any thread. The loader's lists are read under its lock on them, which it holds
// only while it changes them.
#pragma once

namespace memprof {

// A module is about to be opened.
void BeforeDeepBind();
void BeforeNamespace();

// Looks at what has come, if one of these was called.
void LookForBypasses();
void BeforeClose();

// The same where nothing more will come: what isn't found now isn't told.
void LookForBypassesAtEnd();

// This process has another region now: tells it there too.
void PublishBypasses();

}  // namespace memprof
