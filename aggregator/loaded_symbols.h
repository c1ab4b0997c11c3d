// LoadedSymbols: definitions in what the loader has loaded, found in the objects' own tables.
//
// dlsym takes the loader's lock, and allocates a message for a name that nobody has. What looks
// for a function while the program starts may have been called by the program's own allocator,
// under its lock, from its first malloc. So nothing here locks or allocates.
//
// Thread safety: the loader's list is read without its lock. Only where nobody changes it: while
// the process starts, while this library is being opened, or within dl_iterate_phdr.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace memprof {

// The loader's list, in the order of loading: the executable, preloads, dependencies.
const link_map* LoadedObjects();

// Where the loader lies: the dlpi_addr of its object. The kernel's AT_BASE is 0 in a program that
// was started through the loader.
uintptr_t LoaderBase();

const char* SonameOf(const link_map& object);
const char* StringsOf(const link_map& object);  // nullptr: it has none

// The object's function or variable of that name, in its default version; nullptr: it has none, or
// it is this library.
void* FindIn(const link_map& object, const char* name);

// The first definition behind this library in the list: what dlsym(RTLD_NEXT, name) gives while
// there is nothing but what the process was started with.
void* FindBehindUs(const char* name);

}  // namespace memprof
