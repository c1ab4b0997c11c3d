// GOT slots: the words of all modules that hold the address of a hooked function. They are entries
// of GOTs, and pointers that the loader has filled in (R_X86_64_64). Our hooks are written there,
// and removed again.
//
//   GOT slot holds                                   then
//   the program's definition                         hooked
//   nothing yet: its PLT entry (lazy binding)        hooked; the old value is restored at the end
//   somebody else's function                         left alone, and counted
//
// An address that the program copied elsewhere before the attach isn't hooked. An address that it
// copied while hooked keeps leading to our hooks afterwards, which then only forward.
//
// Some modules are not touched: this library, the loader, and modules that the loader is still
// relocating (their RELRO pages are still writable). The last are looked at again next time.
//
// Thread safety: HookNewModules from any thread: one looks, the others go on. The others by one
// thread. The loader's list is read under its lock.
// Memory: a table of 65,536 GOT slots; further ones are not hooked.
#pragma once

#include <cstdint>

namespace memprof {

// Puts the hooks into all modules. False: no memory.
bool HookAllModules();

// Hooks the modules that came since. `look`: even if the loader says that none came. Preserves
// errno.
void HookNewModules(bool look);

// Restores the GOT slots of the modules that are still loaded. Returns their number.
uint32_t UnhookAllModules();

}  // namespace memprof
