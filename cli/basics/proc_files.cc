#include "cli/basics/proc_files.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace memprof {
namespace {

constexpr char kProc[] = "/proc";

std::string ReadAll(int fd, size_t most) {
  std::string text;
  char buffer[4096];
  while (text.size() < most) {
    const ssize_t n = read(fd, buffer, std::min(sizeof buffer, most - text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

// The pids in /proc's order: the one of its own namespace first.
std::vector<pid_t> PidsIn(const std::string& status) {
  constexpr char kName[] = "\nNSpid:";
  const size_t at = status.find(kName);
  if (at == std::string::npos) return {};
  std::istringstream line(
      status.substr(at + sizeof kName - 1, status.find('\n', at + 1) - at - (sizeof kName - 1)));
  std::vector<pid_t> pids;
  for (pid_t pid; line >> pid;) pids.push_back(pid);
  return pids;
}

class Proc {
 public:
  static const Proc& Get() {
    static const Proc proc;
    return proc;
  }

  ScopedFd Open(const std::string& path, int flags) const {
    return ScopedFd(openat(fd(), Path(path).c_str(), flags | O_CLOEXEC));
  }
  // Through the descriptor, or by name if it couldn't be opened.
  int fd() const { return fd_.get(); }
  std::string Path(const std::string& path) const {
    return fd_ ? path : fmt::format("{}/{}", kProc, path);
  }
  std::string Text(const std::string& path, size_t most) const {
    const ScopedFd fd = Open(path, O_RDONLY);
    return fd ? ReadAll(fd.get(), most) : std::string();
  }

  bool is_foreign() const { return depth_ != 0; }

  bool IsInPlace() const {
    struct stat ours, now;
    return !fd_ || (fstat(fd(), &ours) == 0 && stat(kProc, &now) == 0 &&
                    ours.st_dev == now.st_dev && ours.st_ino == now.st_ino);
  }

  // 0: the process has none.
  pid_t FromOurs(pid_t pid) const {
    if (!is_foreign() || pid <= 0) return pid;
    const ScopedFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) return 0;
    const std::string info = Text(fmt::format("self/fdinfo/{}", pidfd.get()), 4096);
    constexpr char kName[] = "\nPid:";
    const size_t at = info.find(kName);
    if (at == std::string::npos) return 0;
    const long found = std::strtol(info.c_str() + at + sizeof kName - 1, nullptr, 10);
    return found > 0 ? static_cast<pid_t>(found) : 0;
  }

  // 0: the process has none. The position in the list doesn't tell the namespace.
  pid_t ToOurs(pid_t pid) const {
    if (!is_foreign() || pid <= 0) return pid;
    const std::vector<pid_t> pids = PidsIn(Text(fmt::format("{}/status", pid), kMostStatus));
    if (pids.size() < depth_ || FromOurs(pids[depth_ - 1]) != pid) return 0;
    return pids[depth_ - 1];
  }

 private:
  static constexpr size_t kMostStatus = size_t{1} << 20;

  Proc() : fd_(open(kProc, O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    const std::vector<pid_t> pids = PidsIn(Text("self/status", kMostStatus));
    // A single pid means that /proc is ours, or doesn't know us; nothing helps in the second case.
    if (pids.size() > 1) depth_ = pids.size();
  }

  ScopedFd fd_;
  // depth of our pid namespace below that of /proc, which is 1; 0: it is the same
  size_t depth_ = 0;
};

std::string NameOf(pid_t pid, const std::string& name) {
  return fmt::format("{}/{}", Proc::Get().FromOurs(pid), name);
}

// The numbers among the entries' names.
std::vector<pid_t> NumbersIn(ScopedFd fd) {
  std::vector<pid_t> numbers;
  DIR* directory = fd ? fdopendir(fd.get()) : nullptr;
  if (directory == nullptr) return numbers;
  fd.Release();  // the directory owns it
  while (const dirent* entry = readdir(directory)) {
    const auto number = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (number > 0) numbers.push_back(number);
  }
  closedir(directory);
  return numbers;
}

}  // namespace

ScopedFd OpenProcFile(pid_t pid, const std::string& name, int flags) {
  return Proc::Get().Open(NameOf(pid, name), flags);
}

std::string ProcText(pid_t pid, const std::string& name, size_t most) {
  return Proc::Get().Text(NameOf(pid, name), most);
}

bool StatProcFile(pid_t pid, const std::string& name, struct stat& info) {
  const Proc& proc = Proc::Get();
  return fstatat(proc.fd(), proc.Path(NameOf(pid, name)).c_str(), &info, 0) == 0;
}

std::string ProcLink(pid_t pid, const std::string& name) {
  const Proc& proc = Proc::Get();
  char text[4096];
  const ssize_t n = readlinkat(proc.fd(), proc.Path(NameOf(pid, name)).c_str(), text, sizeof text);
  return n > 0 ? std::string(text, static_cast<size_t>(n)) : std::string();
}

std::string ProcPath(pid_t pid, const std::string& name) {
  return Proc::Get().IsInPlace() ? fmt::format("{}/{}", kProc, NameOf(pid, name)) : std::string();
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> all = NumbersIn(Proc::Get().Open(".", O_RDONLY | O_DIRECTORY));
  if (!ProcHasOtherPids()) return all;
  std::vector<pid_t> ours;
  for (const pid_t of_proc : all) {
    if (const pid_t pid = PidFromProc(of_proc); pid > 0) ours.push_back(pid);
  }
  return ours;
}

pid_t PidFromProc(pid_t of_proc) { return Proc::Get().ToOurs(of_proc); }

bool ProcHasOtherPids() { return Proc::Get().is_foreign(); }

std::vector<pid_t> ThreadsInProc(pid_t pid) {
  return NumbersIn(OpenProcFile(pid, "task", O_RDONLY | O_DIRECTORY));
}

ProcessMaps::ProcessMaps(pid_t pid) {
  if (Open(pid, "maps") || failed_) return;
  for (const pid_t thread : ThreadsInProc(pid)) {
    if (Open(pid, fmt::format("task/{}/maps", thread)) || failed_) return;
  }
}

// Opens the file; false if it is empty.
bool ProcessMaps::Open(pid_t pid, const std::string& name) {
  fd_ = OpenProcFile(pid, name);
  if (!fd_) failed_ = errno != ENOENT && errno != ESRCH;
  return Fill();
}

bool ProcessMaps::Fill() {
  constexpr size_t kAtOnce = 65536;
  if (!fd_ || failed_) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t before = buffer_.size();
  buffer_.resize(before + kAtOnce);
  ssize_t n;
  do {
    n = read(fd_.get(), buffer_.data() + before, kAtOnce);
  } while (n < 0 && errno == EINTR);
  buffer_.resize(before + static_cast<size_t>(n > 0 ? n : 0));
  // The process has ended meanwhile.
  if (n < 0) failed_ = errno != ESRCH || any_;
  if (n <= 0) return false;
  any_ = true;
  return true;
}

bool ProcessMaps::Next(std::string& line) {
  for (;;) {
    const size_t end = buffer_.find('\n', at_);
    if (end != std::string::npos) {
      line.assign(buffer_, at_, end - at_);
      at_ = end + 1;
      return true;
    }
    if (!Fill()) return false;
  }
}

}  // namespace memprof
