#include "cli/attach/target_process.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "cli/attach/function_table.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/started_program.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

// As ProcPath, through a thread that still runs.
std::string LivingPath(pid_t pid, const std::string& name) {
  return ProcPath(pid, LivingFolder(pid).value_or(std::string()) + name);
}

uint64_t SignalMask(pid_t pid, const char* name) {
  return std::strtoull(StatusLine(pid, name).c_str(), nullptr, 16);
}

std::string EndedText(pid_t pid) { return fmt::format("process {} has ended", pid); }

// Also true while it ends: its memory is gone by then.
bool IsGone(pid_t pid) {
  const auto living = LivingFolder(pid);
  return !living || (ProcLink(pid, *living + "exe").empty() && errno == ENOENT);
}

// Why the process can't be attached to, before its executable is examined; empty: go on.
std::string WhyNotProcess(pid_t pid) {
  if (ProcHasOtherPids()) {
    return "/proc has the pids of another namespace; mount that of this one (unshare "
           "--mount-proc), or run memprof where /proc fits";
  }
  if (kill(pid, 0) != 0 && errno == ESRCH) return fmt::format("there is no process {}", pid);
  const std::string of = StatusLine(pid, "Tgid");
  if (of.empty()) return fmt::format("there is no process {}", pid);
  if (of != std::to_string(pid)) {
    return fmt::format("{} is a thread of process {}; give that", pid, of);
  }
  if (pid == getpid()) return fmt::format("process {} is this memprof itself", pid);
  const auto living = LivingFolder(pid);
  if (!living) {
    return fmt::format("process {} has ended; its parent has not looked yet", pid);
  }
  if (StatusLine(pid, "State").starts_with("T")) {
    return fmt::format("process {} is stopped; let it go on first: kill -CONT {}", pid, pid);
  }
  const std::string tracer = StatusLine(pid, "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    return fmt::format(
        "process {} is traced by process {} (a debugger, strace, another memprof); "
        "a process has one tracer: end that first",
        pid, tracer);
  }
  std::error_code error;
  static_cast<void>(std::filesystem::read_symlink(ProcPath(pid, *living + "exe"), error));
  if (error == std::errc::permission_denied) {
    return geteuid() == 0
               ? fmt::format("process {} may not be looked into: {}", pid, HowToHaveTheRight())
               : fmt::format(
                     "process {} belongs to another user, or may not be looked into (setuid, "
                     "prctl PR_SET_DUMPABLE); {}",
                     pid, HowToHaveTheRight());
  }
  if (error) {
    const auto state = StateOf(pid);
    return state && state->of_kernel
               ? fmt::format("process {} has no executable: a thread of the kernel", pid)
               : EndedText(pid);
  }
  if (HasFiltersOfItsOwn(pid)) {
    return fmt::format(
        "process {} filters its system calls (seccomp), and might be killed by one that "
        "memprof makes in it; start it with memprof run instead",
        pid);
  }
  if ((SignalMask(pid, "SigIgn") >> (SIGTRAP - 1) & 1) != 0) {
    return fmt::format("process {} ignores SIGTRAP, which attaching needs", pid);
  }
  return {};
}

std::string WhyNotProgram(pid_t pid, const std::optional<ElfFacts>& facts) {
  const auto is = [pid](const char* what) { return fmt::format("process {} {}", pid, what); };
  if (!facts) return is("runs an executable that can't be read");
  if (facts->machine != EM_X86_64 && facts->machine != EM_386) {
    return is("is a program for another machine than x86-64, where memprof runs");
  }
  if (facts->elf_class != ELFCLASS64 || facts->machine == EM_386) {
    return is("is a 32-bit program; memprof profiles 64-bit programs");
  }
  if (facts->interpreter.empty()) {
    return is(
        "is statically linked: there is no loader in it that could load the tracker; link it "
        "dynamically to profile it");
  }
  if (facts->interpreter.find("ld-musl") != std::string::npos) {
    return is("is linked with musl; memprof needs glibc: build it against glibc to profile it");
  }
  if (facts->defines_sanitizer) {
    return is("is built with a sanitizer that replaces malloc; build it without -fsanitize");
  }
  if (facts->defines_malloc) {
    return is(
        "has its malloc in the program itself: its calls go through no slot that could be hooked; "
        "nothing would be seen");
  }
  return {};
}

std::vector<Mapping> ReadMappings(pid_t pid) {
  std::vector<Mapping> mappings;
  ProcessMaps maps(pid);
  for (std::string line; maps.Next(line);) {
    const auto mapping = ParseMappingLine(line);
    if (!mapping) continue;
    mappings.push_back({mapping->start, mapping->end, mapping->offset,
                        mapping->permissions.find('x') != std::string_view::npos,
                        std::string(mapping->name)});
  }
  return mappings;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat left, right;
  return stat(a.c_str(), &left) == 0 && stat(b.c_str(), &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

}  // namespace

std::string HowToHaveTheRight() {
  if (geteuid() != 0) return "attach as its user, or as root";
  constexpr int kSysPtrace = 19;  // CAP_SYS_PTRACE
  const bool has =
      (std::strtoull(StatusLine(getpid(), "CapEff").c_str(), nullptr, 16) >> kSysPtrace & 1) != 0;
  return has ? "not even root may here, since it is outside of this container, or a security "
               "module (AppArmor, SELinux) forbids it; run memprof where the process was started"
             : "memprof runs as root, but without CAP_SYS_PTRACE; give it that (docker run "
               "--cap-add SYS_PTRACE)";
}

std::string WhyNoRights(pid_t pid) {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  file >> scope;
  std::string text = fmt::format("process {} may not be traced", pid);
  if (file && scope >= 3) return text + ": Yama forbids it on this machine until it restarts";
  if (geteuid() == 0) return text + ": " + HowToHaveTheRight();
  if (file && scope == 1) {
    return text +
           ": Yama allows it for child processes only; attach as root, or: sudo sysctl "
           "kernel.yama.ptrace_scope=0";
  }
  if (file && scope == 2) return text + ": Yama allows it for root only; attach as root";
  return text + ": " + HowToHaveTheRight() + " (in a container: with CAP_SYS_PTRACE)";
}

std::string ModuleName(const Mapping& mapping) {
  return std::filesystem::path(mapping.path).filename().string();
}

Result<TargetProcess> TargetProcess::Examine(pid_t pid, const std::string& library) {
  if (const std::string why = WhyNotProcess(pid); !why.empty()) {
    return Fail(ErrorKind::kUsage, why);
  }
  auto target = ExamineLiving(pid, library);
  // Whatever was found missing, this is why.
  if (!target && IsGone(pid)) return Fail(ErrorKind::kUsage, EndedText(pid));
  return target;
}

Result<TargetProcess> TargetProcess::ExamineLiving(pid_t pid, const std::string& library) {
  TargetProcess target(pid);
  target.mark_ = MarkOf(pid);
  target.start_ticks_ = StartTicksOf(pid);
  const StartedProgram program = StartedProgramOf(pid);
  const auto facts = ReadElfFacts(program.file);
  if (const std::string why = WhyNotProgram(pid, facts); !why.empty()) {
    return Fail(ErrorKind::kUsage, why);
  }
  target.program_ = program.name;
  target.Remap();
  if (target.mappings_.empty()) {
    return Fail(ErrorKind::kUsage, fmt::format("process {} can't be looked into", pid));
  }
  const auto base = AuxiliaryValue(pid, AT_BASE);
  const Mapping* loader = base && *base != 0 ? target.At(*base) : nullptr;
  std::error_code error;
  target.loader_ = loader != nullptr
                       ? loader->path
                       : std::filesystem::read_symlink(LivingPath(pid, "exe"), error).string();
  std::map<std::string, uint64_t> files;
  for (const Mapping& mapping : target.mappings_) {
    if (!mapping.path.starts_with("/") || mapping.path.starts_with("/dev/")) continue;
    files.emplace(mapping.path, mapping.begin);
  }
  std::string libc;
  for (const auto& [path, begin] : files) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (name.starts_with("libmemprof_preload.so")) {
      return Fail(
          ErrorKind::kUsage,
          fmt::format("process {} is under memprof run already, or counts by itself; see: memprof "
                      "snapshot {}, or the file that its MEMPROF_OUTPUT names",
                      pid, pid));
    }
    if (name.starts_with("libasan.") || name.starts_with("libtsan.") ||
        name.starts_with("libmsan.")) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("process {} has a sanitizer that replaces malloc in it", pid));
    }
    if (name.starts_with("libc.so.6")) libc = path;
    if (name.find(".so") == std::string::npos || path == target.loader_ ||
        name.starts_with("libc.so.6") || name.starts_with(kAttachLibraryName)) {
      continue;
    }
    if (FunctionTable(target.Reachable(path), begin).Find("malloc") != 0) {
      target.allocator_ = path;
    }
  }
  if (libc.empty()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("process {} has no libc.so.6 loaded (yet); memprof needs glibc", pid));
  }
  if (target.allocator_.empty()) target.allocator_ = libc;
  if (!target.Sees(library)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("process {} sees another file system, without {} (a container, a "
                            "chroot); run memprof where it runs",
                            pid, library));
  }
  if (!facts->defines_mallctl.empty()) {
    target.warnings_.push_back(fmt::format(
        "{} has a jemalloc linked in (it defines {}): allocations that don't go through the "
        "dynamic linker's malloc are not seen",
        target.program_, facts->defines_mallctl));
  }
  return target;
}

bool TargetProcess::HasEnded() const { return IsGone(pid_) || StartTicksOf(pid_) != start_ticks_; }

bool TargetProcess::HasExecuted() const {
  const ProgramMark now = MarkOf(pid_);
  // A main thread that has ended has no mark. It gets one if another thread executes a program.
  return mark_.known() ? memprof::HasExecuted(mark_, now).value_or(false) : now.known();
}

std::string TargetProcess::WhatBecame() const {
  if (HasEnded()) return EndedText(pid_);
  if (HasExecuted()) return fmt::format("process {} has executed another program", pid_);
  return {};
}

void TargetProcess::Remap() { mappings_ = ReadMappings(pid_); }

const Mapping* TargetProcess::At(uint64_t address) const {
  const auto after =
      std::upper_bound(mappings_.begin(), mappings_.end(), address,
                       [](uint64_t at, const Mapping& mapping) { return at < mapping.begin; });
  if (after == mappings_.begin()) return nullptr;
  const Mapping& mapping = *(after - 1);
  return address < mapping.end ? &mapping : nullptr;
}

std::string TargetProcess::Reachable(const std::string& path) const {
  return LivingPath(pid_, "root") + path;
}

bool TargetProcess::Sees(const std::string& path) const {
  return IsSameFile(path, Reachable(path));
}

uint64_t TargetProcess::Find(const char* module, const char* symbol) const {
  for (const Mapping& mapping : mappings_) {
    if (mapping.offset != 0 || !ModuleName(mapping).starts_with(module)) continue;
    return FunctionTable(Reachable(mapping.path), mapping.begin).Find(symbol);
  }
  return 0;
}

std::optional<AttachState> TargetProcess::State() const {
  const uint64_t at = Find(kAttachLibraryName, kAttachStateName);
  AttachState state;
  if (at == 0 || !Read(at, &state, sizeof state)) return std::nullopt;
  return state;
}

bool TargetProcess::Read(uint64_t address, void* to, size_t bytes) const {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  ssize_t read = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (read < 0 && errno == ESRCH) {
    read = process_vm_readv(LivingThread(), &local, 1, &remote, 1, 0);
  }
  return read == static_cast<ssize_t>(bytes);
}

bool TargetProcess::Write(uint64_t address, const void* from, size_t bytes) const {
  const iovec local = {const_cast<void*>(from), bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  ssize_t written = process_vm_writev(pid_, &local, 1, &remote, 1, 0);
  if (written < 0 && errno == ESRCH) {
    written = process_vm_writev(LivingThread(), &local, 1, &remote, 1, 0);
  }
  return written == static_cast<ssize_t>(bytes);
}

std::vector<pid_t> TargetProcess::Threads() const {
  std::vector<pid_t> threads = ThreadsInProc(pid_);
  // The main thread stays in the list after its end.
  const auto living = LivingFolder(pid_);
  if (living && !living->empty()) std::erase(threads, pid_);
  return threads;
}

pid_t TargetProcess::LivingThread() const {
  const auto folder = LivingFolder(pid_);
  return folder && !folder->empty()
             ? static_cast<pid_t>(std::strtol(folder->c_str() + std::strlen("task/"), nullptr, 10))
             : pid_;
}

}  // namespace memprof
