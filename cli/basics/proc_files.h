// ProcFiles: what /proc says, read by the pids of this process.
//
// It is the /proc that was there when the first of this was called: a program may mount another one
// over it. And it may be that of another namespace of pids, in which this process and all below it
// have other pids (unshare --pid without --mount-proc): pids are translated then, both ways.
//
// Thread safety: pure but for /proc. Failure: as the system call's, or nothing.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace memprof {

// A file of a process, as "stat" or "task/4711/stat"; -1: errno says why.
int OpenProcFile(pid_t pid, const std::string& name, int flags = O_RDONLY);
// Its text, as far as it has no more bytes than that. Empty: there is none, or it may not be read.
std::string ProcText(pid_t pid, const std::string& name, size_t most = size_t{1} << 20);
bool StatProcFile(pid_t pid, const std::string& name, struct stat& info);
// Of a symbolic link; empty: it isn't known, and errno says why.
std::string ProcLink(pid_t pid, const std::string& name);

// The same as a path, for who opens files by their names. Empty: /proc has been mounted over.
std::string ProcPath(pid_t pid, const std::string& name);

// All processes that are seen and have a pid here.
std::vector<pid_t> AllProcesses();
// By the pid that /proc has for it; 0: it has none here.
pid_t PidFromProc(pid_t of_proc);
// Whether /proc has other pids than this process.
bool ProcHasOtherPids();

// A process's threads, by the numbers that /proc has for them.
std::vector<pid_t> ThreadsInProc(pid_t pid);

// The lines of a process's mappings, as /proc/PID/maps has them. Of a process whose main thread has
// ended that file is empty: another thread is asked.
class ProcessMaps {
 public:
  explicit ProcessMaps(pid_t pid);
  ~ProcessMaps();
  ProcessMaps(const ProcessMaps&) = delete;
  ProcessMaps& operator=(const ProcessMaps&) = delete;

  bool Next(std::string& line);
  // After the last line: whether those were all. Else it may not be asked, or has none: it has
  // ended, or is the kernel's.
  bool whole() const { return !failed_ && any_; }

 private:
  bool Open(pid_t pid, const std::string& name);
  bool Fill();

  int fd_ = -1;
  std::string buffer_;
  size_t at_ = 0;
  bool any_ = false;
  bool failed_ = false;
};

}  // namespace memprof
