// Facts that the kernel gives about a process by its pid. By the time a fact is used, the pid may
// be another process's.
//
// Thread safety: pure functions. Failure: nothing if the process is gone or may not be asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memprof {

// The exit status of a process that is not reaped yet: our own child, which is then reaped, or a
// zombie.
std::optional<int> WaitStatusOf(pid_t pid);

// The exit status of a process that nobody has waited for: the last field of its stat, which is 0
// if it is hidden.
std::optional<int> StatusOfZombie(pid_t pid);

std::vector<pid_t> ChildrenOf(pid_t pid);

// The part of the process's folder in /proc in which a living thread can be asked: "" for its main
// thread, or "task/4711/" if that one has ended and the process looks like a zombie. nullopt: all
// have ended, or nothing is known.
std::optional<std::string> LivingFolder(pid_t pid);

// The kernel's name of the process: its executable's, unless it renamed itself. A process that has
// ended and is not reaped still has it.
std::string CommandNameOf(pid_t pid);

struct ProcessState {
  char state = 0;          // 'R', 'S', 'Z', …
  bool of_kernel = false;  // a kernel thread: it has no memory, and never ends
  bool executed = false;   // has executed a program since it was forked
  pid_t parent = 0;        // 0: none is visible from here
  uint64_t start_ticks = 0;
};
std::optional<ProcessState> StateOf(pid_t pid);

// Its arguments, the program's own name first, up to 2 MiB: a process may give itself a longer line
// than the kernel would have taken.
std::vector<std::string> CommandLineOf(pid_t pid);

// A value of the auxiliary vector that the kernel passed at its start. AT_BASE, for example, is the
// address at which the kernel mapped the executable's loader; it is 0 for a static executable, and
// for a loader that was executed itself.
std::optional<uint64_t> AuxiliaryValue(pid_t pid, uint64_t type);

// When it was forked, in clock ticks since the system's start. A child's value is never less than
// its parent's.
std::optional<uint64_t> StartTicksOf(pid_t pid);

// The value of a line of /proc/PID/status, or of a thread's.
std::string StatusLine(pid_t pid, const std::string& name, pid_t thread = 0);

// Its effective user; unset if it is gone.
std::optional<uid_t> UserOf(pid_t pid);

// True if it has seccomp filters that this process doesn't have: it isn't known which calls it may
// make. Also works for a process that has ended and isn't reaped.
bool HasFiltersOfItsOwn(pid_t pid);
// The number of this process's own filters.
uint32_t OwnFilters();

// The pid that the process sees for itself in its own namespace; 0: not known.
uint32_t NamespacePid(pid_t pid);
// True if it is known to be in a pid namespace below ours.
bool HasOwnPids(pid_t pid);

}  // namespace memprof
