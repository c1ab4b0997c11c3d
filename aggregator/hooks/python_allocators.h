// The objects of a Python interpreter, one by one (run --trace-python-allocators).
//
// The interpreter has small objects in pools of its own (pymalloc), and asks the system for arenas
// of pools. It lets its allocators be replaced. Ours count and call its own ones:
//
//   interpreter ─► PyObject_Malloc ─► hook, which counts ─► pymalloc ─► mmap of an arena: not followed
//                                                               └────► malloc, over 512 bytes: not
//                                                                      counted once more
//
// The domains MEM and OBJ are replaced, not RAW: that is malloc, which has a hook. An interpreter
// that is told to use other allocators (PYTHONMALLOC, -X dev) replaces ours when it starts.
//
// Thread safety: once, by the constructor, before the interpreter starts. It may not be done later
// without its lock. Failure: nothing is replaced.
#pragma once

#include "core/protocol/region_layout.h"

namespace memprof {

// Does what region.options.python_objects asks for. Pre: StartPython was called.
void HookPythonAllocators(RegionHeader& region);

}  // namespace memprof
