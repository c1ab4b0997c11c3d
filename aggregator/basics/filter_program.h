// FilterProgram: whether a filter of system calls (seccomp) that is about to be set lets the tracker
// have more memory. It runs the filter's program, classic BPF as the kernel does, with the tracker's
// own calls.
//
// Thread safety: pure.
#pragma once

#include <linux/filter.h>

namespace memprof {

// False: one of mmap, munmap and mprotect would fail or be fatal. True for a program that the kernel
// refuses.
bool AllowsAllocatorCalls(const sock_fprog& program);

}  // namespace memprof
