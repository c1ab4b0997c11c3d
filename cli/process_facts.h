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

// As the kernel calls it: like its executable, until it gives itself another name. A process that
// has ended and is not reaped still has it.
std::string CommandNameOf(pid_t pid);

// When it was forked, in ticks of the clock since the system's start: of two the child's is no
// less.
std::optional<uint64_t> StartTicksOf(pid_t pid);

// The value of a line of /proc/PID/status, or of a thread's.
std::string StatusLine(pid_t pid, const std::string& name, pid_t thread = 0);

// The process's pid as it sees it itself, in a namespace of its own; 0: not known.
uint32_t NamespacePid(pid_t pid);

}  // namespace memprof
