// What the kernel tells of a process by its pid, which may be another's by the time it is used.
//
// Thread safety: pure functions. Failure: nothing, where it is gone or may not be asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memprof {

// How a process ended that is not reaped yet: our own child, which is reaped, or a zombie.
std::optional<int> WaitStatusOf(pid_t pid);

// How a process ended that nobody has waited for: the last field of its stat, which is 0 where it
// is hidden.
std::optional<int> StatusOfZombie(pid_t pid);

std::vector<pid_t> ChildrenOf(pid_t pid);

// Where in the process's folder of /proc a thread is asked that runs still: "", its main thread, or
// "task/4711/", where that one has ended and the process looks like a zombie. nullopt: all have
// ended, or nothing is known.
std::optional<std::string> LivingFolder(pid_t pid);

// As the kernel calls it: like its executable, until it gives itself another name. A process that
// has ended and is not reaped still has it.
std::string CommandNameOf(pid_t pid);

struct ProcessState {
  char state = 0;          // 'R', 'S', 'Z', …
  bool of_kernel = false;  // a thread of the kernel's: it has no memory, and never ends
  bool executed = false;   // something, since it was forked
  pid_t parent = 0;        // 0: none that is seen from here
  uint64_t start_ticks = 0;
};
std::optional<ProcessState> StateOf(pid_t pid);

// Its arguments, the program's own name first, as far as they are within 2 MiB: a process may give
// itself a longer line than the kernel would have taken.
std::vector<std::string> CommandLineOf(pid_t pid);

// A value of what the kernel told it at its start, as AT_BASE is: where the kernel mapped a loader
// for the executable; 0 for a static one, and for a loader that was executed itself.
std::optional<uint64_t> AuxiliaryValue(pid_t pid, uint64_t type);

// When it was forked, in ticks of the clock since the system's start: of two the child's is no
// less.
std::optional<uint64_t> StartTicksOf(pid_t pid);

// The value of a line of /proc/PID/status, or of a thread's.
std::string StatusLine(pid_t pid, const std::string& name, pid_t thread = 0);

// Its effective user; nothing: it is gone.
std::optional<uid_t> UserOf(pid_t pid);

// Whether it has filters of system calls (seccomp) that this process hasn't: what it may not call
// isn't known. Also of one that has ended and isn't reaped.
bool HasFiltersOfItsOwn(pid_t pid);
// How many this process has itself.
uint32_t OwnFilters();

// The process's pid as it sees it itself, in a namespace of its own; 0: not known.
uint32_t NamespacePid(pid_t pid);
// Whether it is known to be in a namespace of pids below ours.
bool HasOwnPids(pid_t pid);

}  // namespace memprof
