#include "cli/preflight/preflight.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "cli/basics/exit_status.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/loader_command.h"
#include "core/scoped_fd.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr int kMaxInterpreters = 5;  // scripts whose interpreter is a script; Linux allows 5 levels

tl::unexpected<Refusal> Refuse(int status, std::string message) {
  return tl::unexpected<Refusal>(Refusal{status, std::move(message)});
}

bool IsExecutableFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

tl::expected<std::string, Refusal> Locate(const std::string& program,
                                          const std::string& search_path) {
  if (program.find('/') != std::string::npos) {
    struct stat info;
    if (stat(program.c_str(), &info) != 0) {
      const int status = errno == ENOENT || errno == ENOTDIR ? kExitNotFound : kExitCannotExecute;
      return Refuse(status, fmt::format("{}: {}", program, strerror(errno)));
    }
    if (S_ISDIR(info.st_mode)) {
      return Refuse(kExitCannotExecute, fmt::format("{} is a directory, not a program", program));
    }
    if (!IsExecutableFile(program)) {
      return Refuse(
          kExitCannotExecute,
          fmt::format("{} is not executable; chmod +x it, or name its interpreter first", program));
    }
    return program;
  }
  std::string denied;
  for (std::string_view rest = search_path;;) {
    const size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    const std::string path = (directory.empty() ? "." : std::string(directory)) + "/" + program;
    if (IsExecutableFile(path)) return path;
    struct stat info;
    if (denied.empty() && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) denied = path;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (!denied.empty()) {
    return Refuse(kExitCannotExecute, fmt::format("{} is not executable; chmod +x it", denied));
  }
  return Refuse(kExitNotFound, fmt::format("{}: not found in PATH", program));
}

// The interpreter line of a script, without "#!"; nullopt: no script.
std::optional<std::string> ReadScriptLine(const std::string& path) {
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  char text[256];
  const ssize_t n = read(fd.get(), text, sizeof text);
  if (n < 2 || text[0] != '#' || text[1] != '!') return std::nullopt;
  const std::string_view line(text + 2, static_cast<size_t>(n) - 2);
  return std::string(line.substr(0, line.find('\n')));
}

std::string TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::string word(line.substr(0, end));
  line.remove_prefix(end);
  return word;
}

// The program that a script's line finally runs: for env, its first word that is no option or
// variable.
tl::expected<std::string, Refusal> InterpreterOf(const std::string& script, std::string_view line,
                                                 const std::string& search_path) {
  std::string word = TakeWord(line);
  const bool through_env = word == "/usr/bin/env" || word == "/bin/env";
  if (through_env) {
    do {
      word = TakeWord(line);
    } while (!word.empty() && (word[0] == '-' || word.find('=') != std::string::npos));
  }
  if (word.empty()) {
    return Refuse(kExitCannotExecute,
                  fmt::format("{}: its first line names no interpreter", script));
  }
  // The kernel doesn't search PATH for an interpreter; env does.
  if (!through_env && word.find('/') == std::string::npos) word = "./" + word;
  auto found = Locate(word, search_path);
  if (found) return found;
  return Refuse(found.error().status,
                fmt::format("{}: its interpreter can't be run: {}", script, found.error().message));
}

std::optional<std::string> WhyPrivileged(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  if ((info.st_mode & (S_ISUID | S_ISGID)) != 0) return "is setuid or setgid";
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) return "has file capabilities";
  return std::nullopt;
}

bool NeedsSanitizer(const ElfFacts& facts) {
  for (const std::string& library : facts.needed) {
    for (const char* name : {"libasan", "libtsan", "libmsan", "libhwasan", "libclang_rt.asan"}) {
      if (library.starts_with(name)) return true;
    }
  }
  return facts.defines_sanitizer;
}

// Why a file that the kernel executes can't be profiled; nullopt: it can.
std::optional<std::string> WhyNotHere(const ElfFacts& facts) {
  if (facts.machine != EM_X86_64 && facts.machine != EM_386) {
    return "is for another machine than x86-64, where memprof runs";
  }
  if (facts.elf_class != ELFCLASS64 || facts.machine == EM_386) {
    return "is a 32-bit program; memprof profiles 64-bit programs: build it for x86-64";
  }
  return std::nullopt;
}

std::optional<std::string> WhyNot(const ElfFacts& facts) {
  if (auto why = WhyNotHere(facts)) return why;
  if (facts.interpreter.empty()) {
    return "is statically linked, so nothing can be preloaded; link it dynamically to profile it";
  }
  if (facts.interpreter.find("ld-musl") != std::string::npos) {
    return "is linked with musl; memprof needs glibc: build it against glibc to profile it";
  }
  if (NeedsSanitizer(facts)) {
    return "is built with a sanitizer that replaces malloc; build it without -fsanitize to profile "
           "it";
  }
  return std::nullopt;
}

// How much memory a program that we start may lock; nullopt: any amount. For mlockall the whole
// address space counts, including the tracker's.
std::optional<uint64_t> LimitOnLockedMemory() {
  rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  const bool may_lock_all = syscall(SYS_capget, &header, data) == 0 &&
                            (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &
                             static_cast<uint32_t>(CAP_TO_MASK(CAP_IPC_LOCK))) != 0;
  if (may_lock_all) return std::nullopt;
  return limit.rlim_cur;
}

void WarnOfLocks(const ElfFacts& facts, Preflight& preflight) {
  if (!facts.imports_mlockall) return;
  const auto limit = LimitOnLockedMemory();
  if (!limit) return;
  preflight.warnings.push_back(
      fmt::format("{} may call mlockall, and RLIMIT_MEMLOCK is {}: the address space of the "
                  "tracker counts too, "
                  "some 100 MiB and with forked children 660 GiB, so the call may fail where it "
                  "did not before; "
                  "run it with ulimit -l unlimited, or with CAP_IPC_LOCK",
                  preflight.path, FormatBytes(*limit)));
}

void AddWarnings(const ElfFacts& facts, Preflight& preflight) {
  WarnOfLocks(facts, preflight);
  preflight.unseen_allocator = UnseenAllocator(facts);
  if (facts.jemalloc.mallctl != 0) return;
  if (!facts.defines_mallctl.empty()) {
    preflight.warnings.push_back(fmt::format(
        "{} has a jemalloc inside (it defines {}) that can't be hooked: it is not of 5.2.0 to "
        "5.3.1, or its symbols are incomplete; what it allocates is not seen. For its own sampled "
        "profile, if it was built with one: memprof run --jemalloc-prof",
        preflight.path, facts.defines_mallctl));
  } else if (facts.inner_allocator == "jemalloc") {
    preflight.warnings.push_back(fmt::format(
        "{} has a jemalloc inside, but no symbols to hook it by: what it allocates is not seen; "
        "run it before strip, or for jemalloc's own sampled profile with --jemalloc-prof",
        preflight.path));
  } else if (!facts.inner_allocator.empty()) {
    preflight.warnings.push_back(fmt::format(
        "{} has a {} inside: what it allocates is not seen; link it as a shared library to profile "
        "it",
        preflight.path, facts.inner_allocator));
  } else if (facts.defines_malloc) {
    preflight.warnings.push_back(fmt::format(
        "{} defines malloc itself: what it allocates with its own is not seen", preflight.path));
  }
}

tl::unexpected<Refusal> RefuseBecause(const std::string& path, const std::string& why) {
  return Refuse(kExitRefused, path + " " + why);
}

// The program that a loader starts. It doesn't need to be executable. A name without a slash is
// searched among libraries, by the loader.
tl::expected<void, Refusal> FollowLoader(const std::vector<std::string>& command,
                                         Preflight& preflight) {
  const LoaderCommand loader = ReadLoaderCommand(command);
  if (!loader.only.empty()) {
    return RefuseBecause(preflight.path,
                         fmt::format("starts no program with {}; leave that out", loader.only));
  }
  if (loader.program == 0) {
    return RefuseBecause(preflight.path,
                         "is the loader itself; name the program that it is to start behind it");
  }
  preflight.loaded = command[loader.program];
  preflight.loader = preflight.path;
  preflight.loader_options = loader.options;
  preflight.name = preflight.loaded;
  struct stat info;
  if (stat(preflight.loaded.c_str(), &info) != 0) {
    if (preflight.loaded.find('/') == std::string::npos) return {};
    return Refuse(kExitNotFound, fmt::format("{}: {}", preflight.loaded, strerror(errno)));
  }
  const auto facts = ReadElfFacts(preflight.loaded);
  if (!facts) {
    return Refuse(kExitCannotExecute,
                  preflight.loaded + " is no ELF file, which is all that the loader can start");
  }
  // The file's own loader, if it names one, is not used here.
  ElfFacts as_started = *facts;
  if (as_started.has_dynamic && as_started.interpreter.empty()) {
    as_started.interpreter = preflight.path;
  }
  if (const auto why = WhyNot(as_started)) return RefuseBecause(preflight.loaded, *why);
  AddWarnings(*facts, preflight);
  return {};
}

}  // namespace

std::string ProgramSearchPath() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/bin:/usr/bin";
}

tl::expected<Preflight, Refusal> CheckProgram(const std::vector<std::string>& command,
                                              const std::string& search_path) {
  auto located = Locate(command[0], search_path);
  if (!located) return tl::unexpected<Refusal>(located.error());
  Preflight preflight;
  preflight.path = *located;
  preflight.name = command[0];
  std::string runs = *located;
  for (int i = 0; i < kMaxInterpreters; ++i) {
    const auto line = ReadScriptLine(runs);
    if (!line) break;
    auto interpreter = InterpreterOf(runs, *line, search_path);
    if (!interpreter) return tl::unexpected<Refusal>(interpreter.error());
    runs = preflight.interpreter = *interpreter;
  }
  if (const auto why = WhyPrivileged(runs)) {
    return Refuse(
        kExitRefused,
        fmt::format("{} {}: the loader ignores preloads there; run a copy without it", runs, *why));
  }
  // A file that is no ELF file is left to exec, which refuses it, or to a shell, as execvp does.
  if (const auto facts = ReadElfFacts(runs)) {
    if (IsLoader(*facts) && preflight.interpreter.empty()) {
      if (const auto why = WhyNotHere(*facts)) return RefuseBecause(runs, *why);
      if (const auto fine = FollowLoader(command, preflight); !fine) {
        return tl::unexpected<Refusal>(fine.error());
      }
      return preflight;
    }
    if (const auto why = WhyNot(*facts)) return RefuseBecause(runs, *why);
    preflight.loader = facts->interpreter;
    AddWarnings(*facts, preflight);
  }
  return preflight;
}

}  // namespace memprof
