// Skips libstdc++'s plain operators new and delete, which are malloc and free. If they are the ones
// behind our hooks, the hooks call the real malloc and free themselves. Otherwise each operator of
// libstdc++ would call our malloc and free, only to learn there that its event is counted already.
//
// Not skipped are the aligned operators. Nothing is skipped in a program that has a malloc of its
// own before ours, or defines one of these operators anywhere: libstdc++'s other operators would
// call it. (In a program that replaces only new and delete, new[] and the sized delete call them.)
#pragma once

#include "aggregator/basics/libc_functions.h"

namespace memprof {

// Puts the shortcuts into next_functions, which must have been looked up. `find` is
// _dl_find_object, or nullptr if there is none. Thread safety: two threads that call it at once do
// the same.
void PassByLibstdcxx(FindObject find);

}  // namespace memprof
