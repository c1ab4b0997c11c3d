// ProcFiles: reads /proc by the pids of this process.
//
// It keeps using the /proc that was mounted at the first call, since a program may mount another
// one over it. That /proc may belong to another pid namespace, in which this process and its
// descendants have other pids (unshare --pid without --mount-proc): pids are then translated, both
// ways.
//
// Thread safety: pure but for /proc. Failure: as the system call's, or nothing.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/scoped_fd.h"

namespace memprof {

// Opens a file of a process, such as "stat" or "task/4711/stat"; none: errno says why.
ScopedFd OpenProcFile(pid_t pid, const std::string& name, int flags = O_RDONLY);
// The file's text, at most `most` bytes. Empty if there is none, or it may not be read.
std::string ProcText(pid_t pid, const std::string& name, size_t most = size_t{1} << 20);
bool StatProcFile(pid_t pid, const std::string& name, struct stat& info);
// The target of a symbolic link; empty: it isn't known, and errno says why.
std::string ProcLink(pid_t pid, const std::string& name);

// The same file as a path, for functions that open files by name. Empty if /proc has been mounted
// over.
std::string ProcPath(pid_t pid, const std::string& name);

// All processes that are visible and have a pid here.
std::vector<pid_t> AllProcesses();
// Translates a pid of /proc's namespace; 0: the process has no pid here.
pid_t PidFromProc(pid_t of_proc);
// Whether /proc has other pids than this process.
bool ProcHasOtherPids();

// A process's threads, by the numbers that they have in /proc.
std::vector<pid_t> ThreadsInProc(pid_t pid);

// The lines of a process's mappings from /proc/PID/maps. If the main thread has ended, that file is
// empty, and another thread's is read.
class ProcessMaps {
 public:
  explicit ProcessMaps(pid_t pid);
  ProcessMaps(const ProcessMaps&) = delete;
  ProcessMaps& operator=(const ProcessMaps&) = delete;

  bool Next(std::string& line);
  // Call it after the last line: true if those were all lines. False if the file may not be read,
  // or the process has no mappings because it has ended or is a kernel thread.
  bool whole() const { return !failed_ && any_; }

 private:
  bool Open(pid_t pid, const std::string& name);
  bool Fill();

  ScopedFd fd_;
  std::string buffer_;
  size_t at_ = 0;
  bool any_ = false;
  bool failed_ = false;
};

}  // namespace memprof
