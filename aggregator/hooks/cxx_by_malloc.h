// libstdc++'s plain operators new and delete are malloc and free: where they are the ones behind
// our hooks, the hooks call the real malloc and free themselves. Else each operator of libstdc++
// would call our malloc and free, only to be told there that its event is counted already.
//
// Left alone: the aligned ones, and all of a program that has a malloc of its own before ours, or
// anywhere one of these operators: libstdc++'s others would call it. (A program that replaces new
// and delete only says new[] and the sized delete too.)
#pragma once

#include "aggregator/libc_functions.h"

namespace memprof {

// Puts the short cuts into next_functions, which have been looked up. `find`: _dl_find_object, or
// nullptr where there is none. Thread safety: two threads that call it at once do the same.
void PassByLibstdcxx(FindObject find);

}  // namespace memprof
