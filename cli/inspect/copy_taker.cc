#include "cli/inspect/copy_taker.h"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/attach/target_process.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStopLimit{500};
constexpr int kTries = 20;
constexpr milliseconds kBetweenTries{5};
constexpr size_t kMostCode = size_t{4} << 20;  // at most so much of libc's code is searched

tl::unexpected<Error> Failed(std::string why) { return Fail(ErrorKind::kIo, std::move(why)); }

std::string WhyNoCopy(pid_t process, int error) {
  if (error == EAGAIN) {
    return fmt::format(
        "process {} may not have another process beside it (RLIMIT_NPROC, pids.max): raise the "
        "limit, or use --stop",
        process);
  }
  if (error == ENOMEM) {
    return fmt::format(
        "there is no memory for a copy of process {} (vm.overcommit_memory): --stop looks at it "
        "while it "
        "stands",
        process);
  }
  return fmt::format("process {} can't be copied: {}", process, strerror(error));
}

// A copy would be announced to a thread that is stopped, or to another process.
bool HandlesItsFaults(pid_t process) {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(ProcPath(process, "fd"), error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code closed_meanwhile;
    const auto target = std::filesystem::read_symlink(entry->path(), closed_meanwhile);
    if (target == "anon_inode:[userfaultfd]") return true;
  }
  return false;
}

// After unshare() the next process that the thread makes is the first one of a namespace, which ends
// with it: the program could make no others any more.
bool MakesNamespaces(pid_t process, pid_t thread) {
  for (const char* kind : {"pid", "time"}) {
    const std::string own = ProcLink(process, fmt::format("task/{}/ns/{}", thread, kind));
    // Empty as long as the namespace has no process.
    if (!own.empty() &&
        own != ProcLink(process, fmt::format("task/{}/ns/{}_for_children", thread, kind))) {
      return true;
    }
  }
  return false;
}

// Linux 5.13; older headers lack it.
constexpr auto kGetRseqConfiguration = static_cast<__ptrace_request>(0x420f);
struct RseqConfiguration {
  uint64_t abi_pointer;
  uint32_t abi_size, signature, flags, pad;
};
constexpr uint64_t kRseqCsOffset = 8;  // rseq_cs in struct rseq

bool IsInRestartableSequence(const RemoteThread& thread) {
  // A thread in a system call isn't.
  if (static_cast<int64_t>(thread.registers().orig_rax) >= 0) return false;
  RseqConfiguration configuration = {};
  if (ptrace(kGetRseqConfiguration, thread.id(), sizeof configuration, &configuration) <= 0 ||
      configuration.abi_pointer == 0) {
    return false;
  }
  errno = 0;
  const long sequence =
      ptrace(PTRACE_PEEKDATA, thread.id(), configuration.abi_pointer + kRseqCsOffset, nullptr);
  return errno == 0 && sequence != 0;
}

FrozenThread Describe(pid_t process, const RemoteThread& thread) {
  FrozenThread frozen;
  frozen.id = thread.id();
  const user_regs_struct& registers = thread.registers();
  frozen.stack_pointer = registers.rsp;
  frozen.thread_pointer = registers.fs_base;
  const auto add = [&frozen](const void* words, size_t bytes) {
    const size_t before = frozen.registers.size();
    frozen.registers.resize(before + bytes / sizeof(uint64_t));
    std::memcpy(frozen.registers.data() + before, words, bytes / sizeof(uint64_t) * 8);
  };
  add(&registers, sizeof registers);
  const std::vector<unsigned char> vectors = thread.VectorRegisters();
  add(vectors.data(), vectors.size());
  frozen.name = ProcText(process, fmt::format("task/{}/comm", thread.id()));
  if (!frozen.name.empty() && frozen.name.back() == '\n') frozen.name.pop_back();
  return frozen;
}

}  // namespace

// Finds a syscall instruction in libc's code.
Result<void> CopyTaker::FindPlaces() {
  const ScopedFd memory = OpenProcFile(process_, "mem");
  if (!memory) {
    return Failed(
        errno == EACCES || errno == EPERM ? WhyNoRights(process_)
        : errno == ESRCH
            ? fmt::format(
                  "process {} has ended, or its main thread has: then the kernel doesn't let "
                  "its memory be read",
                  process_)
            : fmt::format("process {} can't be looked into: {}", process_, strerror(errno)));
  }
  ProcessMaps maps(process_);
  for (std::string line; maps.Next(line);) {
    const auto mapping = ParseMappingLine(line);
    if (!mapping || mapping->permissions.find('x') == std::string_view::npos ||
        mapping->name.find("/libc.so.6") == std::string_view::npos) {
      continue;
    }
    std::string code(std::min<uint64_t>(mapping->end - mapping->start, kMostCode), '\0');
    const ssize_t read =
        pread(memory.get(), code.data(), code.size(), static_cast<off_t>(mapping->start));
    code.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
    const size_t at = code.find("\x0f\x05");
    if (at == std::string::npos) continue;
    places_.syscall = mapping->start + at;
    return {};
  }
  return Failed(fmt::format("process {} has no libc as expected", process_));
}

bool CopyTaker::AreRight(const RemoteThread& thread) const {
  errno = 0;
  const long code = ptrace(PTRACE_PEEKTEXT, thread.id(), places_.syscall, nullptr);
  constexpr long kSyscall = 0x050f;
  return errno == 0 && (code & 0xffff) == kSyscall;
}

Result<std::vector<RemoteThread>> CopyTaker::StopAll() {
  std::vector<RemoteThread> threads;
  const auto until = steady_clock::now() + kStopLimit;
  for (bool more = true; more;) {
    more = false;
    const size_t before = threads.size();
    for (const pid_t id : ThreadsInProc(process_)) {
      if (std::any_of(threads.begin(), threads.end(),
                      [id](const RemoteThread& thread) { return thread.id() == id; })) {
        continue;
      }
      int error = 0;
      auto thread = RemoteThread::Seize(process_, id, error);
      if (!thread) {
        // A thread that has ended is still listed as long as it is the main one.
        if (error == ESRCH || (error == EPERM && !threads.empty()) ||
            StatusLine(process_, "State", id).starts_with("Z")) {
          continue;
        }
        return Failed(error == EPERM ? WhyNoRights(process_)
                                     : fmt::format("process {} can't be traced: {}", process_,
                                                   strerror(error)));
      }
      thread->Interrupt();
      threads.push_back(std::move(*thread));
      more = true;
    }
    for (size_t i = before; i < threads.size(); ++i) {
      if (threads[i].AwaitStop(until)) continue;
      if (steady_clock::now() < until) continue;  // it has ended
      const pid_t late = threads[i].id();
      // The others need not wait for this one, which is let go when it stops.
      for (RemoteThread& thread : threads) {
        if (thread.stopped()) thread.Release();
      }
      return Failed(
          fmt::format("thread {} of process {} doesn't stop (it waits in vfork(), or its cgroup is "
                      "frozen); try "
                      "again",
                      late, process_));
    }
  }
  std::erase_if(threads, [](const RemoteThread& thread) { return !thread.stopped(); });
  if (threads.empty()) return Failed(fmt::format("there is no process {} any more", process_));
  return threads;
}

Result<TakenCopy> CopyTaker::Take() {
  if (HasFiltersOfItsOwn(process_)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("process {} filters its system calls (seccomp), and might be killed by "
                            "the one that copies it: --stop looks at it while it stands",
                            process_));
  }
  if (HandlesItsFaults(process_)) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("process {} handles page faults itself (userfaultfd), and would have to "
                    "handle those of its copy",
                    process_));
  }
  const auto ticks = StartTicksOf(process_);
  if (const auto found = FindPlaces(); !found) return tl::unexpected<Error>(found.error());
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries != 0) std::this_thread::sleep_for(kBetweenTries);
    const auto since = steady_clock::now();
    auto threads = StopAll();
    if (!threads) return tl::unexpected<Error>(threads.error());
    if (StartTicksOf(process_) != ticks) {
      return Failed(fmt::format("process {} has ended", process_));
    }
    const auto makes_namespaces = [this](const RemoteThread& candidate) {
      return MakesNamespaces(process_, candidate.id());
    };
    if (std::all_of(threads->begin(), threads->end(), makes_namespaces)) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("process {} has left its namespaces (unshare), and its copy would be "
                              "the first process of new ones: --stop looks at it while it stands",
                              process_));
    }
    const auto thread =
        std::find_if(threads->begin(), threads->end(), [&](const RemoteThread& candidate) {
          return !IsInRestartableSequence(candidate) && !makes_namespaces(candidate);
        });
    if (thread == threads->end()) continue;
    if (!AreRight(*thread)) {
      return Failed(fmt::format("process {} has executed another program", process_));
    }
    TakenCopy taken;
    for (const RemoteThread& each : *threads) taken.threads.push_back(Describe(process_, each));
    std::optional<int64_t> copy;
    bool stalled = false;
    const auto let_others_go = [&] {
      stalled = true;
      for (RemoteThread& each : *threads) {
        if (&each != &*thread) each.Release();
      }
    };
    if (thread->BeginCalls()) copy = thread->CopyProcess(places_, let_others_go);
    thread->EndCalls();
    for (RemoteThread& each : *threads) each.Release();
    taken.pause =
        std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - since);
    if (stalled && copy && *copy > 0) {  // of no one instant
      End(static_cast<pid_t>(*copy));
      copy = -ETIMEDOUT;
    }
    if (!copy || *copy < 0)
      return Failed(WhyNoCopy(process_, copy ? static_cast<int>(-*copy) : EIO));
    taken.pid = static_cast<pid_t>(*copy);
    // If memory runs out, the copy goes first.
    const ScopedFd score = OpenProcFile(taken.pid, "oom_score_adj", O_WRONLY);
    if (score) static_cast<void>(!write(score.get(), "1000", 4));
    return taken;
  }
  return Failed(fmt::format("no thread of process {} came out of a restartable sequence; try again",
                            process_));
}

Result<TakenCopy> CopyTaker::Stop() {
  if (HandlesItsFaults(process_)) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format(
            "process {} handles page faults itself (userfaultfd), and can't while it stands",
            process_));
  }
  auto threads = StopAll();
  if (!threads) return tl::unexpected<Error>(threads.error());
  stopped_ = std::move(*threads);
  TakenCopy taken;
  taken.pid = process_;
  for (const RemoteThread& each : stopped_) taken.threads.push_back(Describe(process_, each));
  return taken;
}

bool CopyTaker::End(pid_t copy) {
  // Its number as the process sees it.
  const uint32_t seen = NamespacePid(copy);
  kill(copy, SIGKILL);
  int status = 0;
  while (waitpid(copy, &status, __WALL) < 0 && errno == EINTR) {
  }
  if (kill(copy, 0) != 0 && errno == ESRCH) return true;  // the process has ended before
  for (const pid_t id : ThreadsInProc(process_)) {
    int error = 0;
    auto thread = RemoteThread::Seize(process_, id, error);
    if (!thread || !thread->Interrupt() || !thread->AwaitStop(steady_clock::now() + kStopLimit) ||
        IsInRestartableSequence(*thread)) {
      continue;
    }
    // It may have executed another program meanwhile.
    if (!AreRight(*thread) && (!FindPlaces() || !AreRight(*thread))) continue;
    if (!thread->BeginCalls()) continue;
    const auto waited = thread->SystemCall(
        places_, SYS_wait4,
        {seen != 0 ? seen : static_cast<uint64_t>(copy), 0, __WALL | WNOHANG, 0});
    thread->EndCalls();
    thread->Release();
    if (waited && *waited > 0) return true;
    if (kill(copy, 0) != 0 && errno == ESRCH) return true;  // the program has waited with __WALL
  }
  // Ended: then the copy is init's.
  return ThreadsInProc(process_).empty() || StatusLine(process_, "State").starts_with("Z");
}

}  // namespace memprof
