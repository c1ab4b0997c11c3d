// OwnMemory: this process's memory as InterpreterMemory.
//
// A page is probed by a system call before it is first read, and remembered until the program
// unmaps something. Once the program filters its system calls, only remembered pages are read.
//
// Thread safety: any thread, also a signal handler. Memory: a fixed table.
#pragma once

#include "aggregator/python/interpreter_memory.h"

namespace memprof {

InterpreterMemory OwnMemory();

// Memory may have been unmapped.
void ForgetReadablePages();

}  // namespace memprof
