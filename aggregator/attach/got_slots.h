// The slots of all modules that hold the address of a function that is hooked: entries of GOTs, and
// pointers that the loader has filled in (R_X86_64_64). Our hooks are put there, and taken out
// again.
//
//   slot holds                                       then
//   the program's definition                         hooked
//   nothing yet: its PLT entry (lazy binding)        hooked; what it held is put back at the end
//   somebody else's function                         left, and counted
//
// What a program has copied elsewhere before isn't hooked; what it copied while hooked goes on to
// our hooks afterwards, which then only forward.
//
// Not touched: this library, the loader, and modules that the loader is still relocating (their
// RELRO pages are writable yet): these are looked at again next time.
//
// Thread safety: HookNewModules from any thread: one looks, the others go on. The others by one
// thread. The loader's list is read under its lock.
// Memory: a table of 65,536 slots; what doesn't fit is left.
#pragma once

#include <cstdint>

namespace memprof {

// Puts the hooks into all modules. False: no memory.
bool HookAllModules();

// Puts the hooks into the modules that came since; `look`: even if the loader says that none did.
// Keeps errno.
void HookNewModules(bool look);

// Puts back what was there, of the modules that are still loaded. Returns how many slots.
uint32_t UnhookAllModules();

}  // namespace memprof
