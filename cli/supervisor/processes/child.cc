#include "cli/supervisor/processes/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/basics/exit_status.h"
#include "cli/basics/process_facts.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  ScopedFd reading, writing;
};

// Opens both ends; false: errno says why.
bool Open(Pipe& pipe) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  pipe.reading.Reset(fds[0]);
  pipe.writing.Reset(fds[1]);
  return true;
}

// The timers of whoever executed us (alarm, setitimer): they survive exec, but not fork.
class InheritedTimers {
 public:
  // From now on they don't run.
  InheritedTimers() {
    constexpr itimerval kOff = {};
    for (size_t i = 0; i < std::size(kKinds); ++i) setitimer(kKinds[i], &kOff, &left_[i]);
  }
  void GoOnHere() const {
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      const timeval& left = left_[i].it_value;
      if (left.tv_sec != 0 || left.tv_usec != 0) setitimer(kKinds[i], &left_[i], nullptr);
    }
  }

 private:
  static constexpr __itimer_which kKinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  itimerval left_[std::size(kKinds)] = {};
};

// What systemd says to the process that it starts, by its pid, is for the program: sockets
// (sd_listen_fds), a watchdog. `text` has room for it.
void PassOnPid(const char* name, pid_t ours, char** environment, char (&text)[64]) {
  const size_t length = strlen(name);
  for (; *environment != nullptr; ++environment) {
    if (strncmp(*environment, name, length) != 0) continue;
    if (strtol(*environment + length, nullptr, 10) != ours) return;
    *fmt::format_to_n(text, sizeof text - 1, "{}{}", name, getpid()).out = 0;
    *environment = text;
    return;
  }
}

// In the child: never returns.
[[noreturn]] void Become(const ChildPlan& plan, char** argv, char** shell_argv, char** environment,
                         const InheritedTimers& timers, pid_t parent, int go, int failure) {
  static char listen[64], watchdog[64];
  PassOnPid("LISTEN_PID=", parent, environment, listen);
  PassOnPid("WATCHDOG_PID=", parent, environment, watchdog);
  char byte;
  ssize_t n;
  do {
    n = read(go, &byte, 1);
  } while (n < 0 && errno == EINTR);
  if (n != 1) _exit(kExitRefused);
  timers.GoOnHere();
  RestoreSignals(plan.signals);
  if (plan.traced) prctl(PR_SET_PTRACER, getppid());
  execve(plan.path.c_str(), argv, environment);
  // A script without "#!": run by a shell, as execvp and every shell do it.
  if (errno == ENOEXEC) execve("/bin/sh", shell_argv, environment);
  const int error = errno;
  (void)!write(failure, &error, sizeof error);
  _exit(kExitRefused);
}

}  // namespace

Child::~Child() {
  failure_.Reset();
  if (!go_) return;
  go_.Reset();
  waitpid(pid_, nullptr, 0);
}

Result<Child> Child::Fork(const ChildPlan& plan) {
  Pipe go;
  Pipe failure;
  if (!Open(go) || !Open(failure)) {
    return Fail(ErrorKind::kIo, fmt::format("pipe: {}", strerror(errno)));
  }
  std::vector<char*> argv = Pointers(plan.argv);
  std::vector<std::string> shell = {"/bin/sh", plan.path};
  shell.insert(shell.end(), plan.argv.begin() + 1, plan.argv.end());
  std::vector<char*> shell_argv = Pointers(shell);
  std::vector<char*> environment = Pointers(plan.environment);
  const InheritedTimers timers;
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Fail(ErrorKind::kIo, fmt::format("fork: {}", strerror(errno)));
  if (pid == 0) {
    go.writing.Reset();
    Become(plan, argv.data(), shell_argv.data(), environment.data(), timers, self, go.reading.get(),
           failure.writing.get());
  }
  return Child(pid, std::move(go.writing), std::move(failure.reading));
}

int Child::Start() {
  (void)!write(go_.get(), "g", 1);
  go_.Reset();
  int error = 0;
  ssize_t n;
  do {
    n = read(failure_.get(), &error, sizeof error);  // returns when exec closes the other side
  } while (n < 0 && errno == EINTR);
  failure_.Reset();
  return n == static_cast<ssize_t>(sizeof error) ? error : 0;
}

std::vector<std::string> EnvironmentWith(const std::string& preload, const std::string& socket) {
  constexpr std::string_view kPreload = "LD_PRELOAD=";
  const std::string socket_prefix = std::string(kSocketVariable) + "=";
  const std::string filters_prefix = std::string(kFiltersVariable) + "=";
  std::vector<std::string> environment;
  std::string others;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(kPreload)) {
      others = text.substr(kPreload.size());
    } else if (!text.starts_with(socket_prefix) && !text.starts_with(filters_prefix)) {
      environment.emplace_back(text);
    }
  }
  environment.push_back(std::string(kPreload) + preload + (others.empty() ? "" : ":" + others));
  environment.push_back(socket_prefix + socket);
  if (const uint32_t filters = OwnFilters(); filters != 0) {
    environment.push_back(filters_prefix + std::to_string(filters));
  }
  return environment;
}

}  // namespace memprof
