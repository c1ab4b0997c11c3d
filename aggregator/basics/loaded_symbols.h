// LoadedSymbols: finds definitions in the loaded objects, in the objects' own tables.
//
// dlsym takes the loader's lock, and allocates a message for a name that nobody has. A search
// during the program's start may be called by the program's own allocator, under its lock, from its
// first malloc. So nothing here locks or allocates.
//
// Thread safety: the loader's list is read without its lock. Call these only when nobody changes
// the list: while the process starts, while this library is being opened, or within
// dl_iterate_phdr.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace memprof {

// The loader's list, in the order of loading: the executable, preloads, dependencies.
const link_map* LoadedObjects();

// The loader's base: the dlpi_addr of its object. The kernel's AT_BASE is 0 in a program that was
// started through the loader.
uintptr_t LoaderBase();

const char* SonameOf(const link_map& object);
const char* StringsOf(const link_map& object);  // nullptr: the object has none

// The object's function or variable of that name, in its default version; nullptr: it has none, or
// the object is this library.
void* FindIn(const link_map& object, const char* name);

// The first definition after this library in the list. This is the result of dlsym(RTLD_NEXT, name)
// as long as only the objects from the process's start are loaded.
void* FindNextDefinition(const char* name);

// The first definition in all objects but this library, in the loader's order: an executable may
// have a copy of a library's variable, which is then the one in use.
void* FindFirstDefinition(const char* name);

// True if an object before this library in the list (the executable, an earlier preload) defines
// the name, so that references are bound to it and not to our hook. Call it once the executable is
// relocated: the definition may be an IFUNC, whose resolver is called.
bool IsDefinedBefore(const char* name);

}  // namespace memprof
