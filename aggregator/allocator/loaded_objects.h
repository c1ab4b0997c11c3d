// LoadedObjects: finds the definition of a symbol that a reference in some loaded object binds to,
// without the lock that dlsym takes.
//
// A reference binds to the first definition in the global scope. If there is none, it binds in the
// scope of the dlopen that brought the referring object: the opened object and its dependencies,
// breadth first. Only the loader knows which objects were opened RTLD_GLOBAL, but that matters only
// if several objects define the symbol:
//
//   definitions   answer
//   none          nobody has it
//   one           that one: whatever the scopes, the reference was bound
//   several       the global scope's (the caller asks dlsym), else `in_scope`
//
// The scope of a dependency is that of the object that brought it. So we look for the first loaded
// object of all that need it, directly or not; the loader's list is in the order of loading.
//
// Thread safety: any thread. The loader's list is read within dl_iterate_phdr, under a lock that
// the loader holds only while it changes the list, not while it runs constructors.
#pragma once

#include <link.h>

#include <cstddef>

namespace memprof {

struct Definitions {
  size_t count;    // number of objects that define it
  void* first;     // the definition of the object that was loaded first
  void* in_scope;  // the definition in the referring object's scope; set only if count > 1
};

// For each name the definitions outside this library, as seen from `object` (nullptr: from code in
// no object). A null name is skipped.
void FindDefinitions(const link_map* object, const char* const* names, size_t count,
                     Definitions* definitions);

}  // namespace memprof
