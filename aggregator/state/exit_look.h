// ExitLook: before the program's exit handlers run, it waits until the supervisor has looked at its
// heap (TrackerOptions.look_at_exit).
//
//   exit, _exit, quick_exit  of any thread, by the hooks (hooks/hooks_ending.cc)
//   main returns             libc calls exit() by no name that a hook could have; but before its
//                            handlers it runs the thread's own (__cxa_thread_atexit_impl)
//   the last thread ends     libc calls exit(), too: then after the other exit handlers (on_exit)
//
// It waits for as long as RegionHeader.exit_look changes, and for ten seconds after that: the
// supervisor may be gone. Whatever happens, the program's end is only delayed.
//
// Thread safety: any thread, also a signal handler. The first one's end is looked at; others that come
// meanwhile follow it, as late as they came after it.
#pragma once

namespace memprof {

// The program was loaded. Pre: this process counts.
void PrepareExitLook();

// The process is about to end. Does nothing in a forked child, and after the first time.
void LookBeforeExit();

// The calling thread ends, while the process may go on.
void ThreadEnds();

// True for the free of what libc allocated for PrepareExitLook, once; it isn't the program's.
bool IsExitLooksFree();

}  // namespace memprof
