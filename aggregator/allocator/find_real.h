// FindReal: finds the functions behind our hooks. Declared here for the callers below: a preloaded
// tracker (start/preloaded.cc) and an attached one (attach/attached.cc) each define them.
//
// Thread safety: any thread.
#pragma once

namespace memprof {

// The function behind our hook of that name, as the program's references are bound; nullptr: nobody
// defines it. Call it only where loaded_symbols.h may be called. If preloaded, it neither locks nor
// allocates.
void* FindReal(const char* name);

// The same at any later time. It may lock and allocate (libc_functions.h, AskLoader).
void* FindGlobal(const char* name);

}  // namespace memprof
