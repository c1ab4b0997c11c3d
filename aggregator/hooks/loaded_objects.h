// LoadedObjects: which definition of a symbol a reference in some loaded object binds to, without
// the lock that dlsym takes.
//
// A reference binds to the first definition in the global scope, else in the scope of the dlopen
// that brought the referring object: what was opened and its dependencies, breadth first. Which
// objects were opened RTLD_GLOBAL only the loader knows, but it matters only where several objects
// define the symbol:
//
//   definitions   answer
//   none          nobody has it
//   one           that one: whatever the scopes, the reference was bound
//   several       the global scope's (the caller asks dlsym), else `in_scope`
//
// The scope of a dependency is that of whoever brought it, so we look for the object that was
// loaded first of all that need it, directly or not; the loader's list is in the order of loading.
//
// Thread safety: any thread. The loader's list is read within dl_iterate_phdr, under a lock that
// the loader holds only while it changes the list, not while it runs constructors.
#pragma once

#include <link.h>

#include <cstddef>

namespace memprof {

struct Definitions {
  size_t count;    // objects that define it
  void* first;     // of the one loaded first
  void* in_scope;  // of the referring object's scope; only looked for where count > 1
};

// For each name the definitions outside this library, as seen from `object` (nullptr: from code of
// no object). A null name is left out.
void FindDefinitions(const link_map* object, const char* const* names, size_t count,
                     Definitions* definitions);

}  // namespace memprof
