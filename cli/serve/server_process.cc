#include "cli/serve/server_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "cli/basics/own_library.h"
#include "cli/http/http_engine.h"

namespace memprof {
namespace {

constexpr int kNice = 5;
constexpr char kInheritance[] = "MEMPROF_SERVE_BESIDE";  // "LISTENER,PIPE,SUPERVISOR,URL"

// In the forked process: nothing but system calls.
[[noreturn]] void Execute(const std::vector<char*>& argv, const std::vector<char*>& environment,
                          int listener, int end) {
  setsid();
  const pid_t server = fork();
  if (server != 0) _exit(server < 0 ? 1 : 0);
  const int null = open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) dup2(null, standard);
  if (null > 2) close(null);
  fcntl(listener, F_SETFD, 0);
  fcntl(end, F_SETFD, 0);
  execve("/proc/self/exe", argv.data(), environment.data());
  _exit(1);
}

// Takes a number and the comma after it off the text. -1: there is none.
int TakeNumber(std::string& text) {
  int number = -1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end == last || *end != ',') return -1;
  text.erase(0, static_cast<size_t>(end - text.data()) + 1);
  return number;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<ServerProcess> ServerProcess::Start(Listener listener, const std::vector<std::string>& names,
                                           const std::string& token) {
  if (const auto http = FindOwnLibrary(kHttpLibraryName); !http) {
    return tl::unexpected<Error>(http.error());
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("--serve: {}", strerror(errno)));
  }
  const ScopedFd reading(ends[0]);
  ScopedFd writing(ends[1]);
  std::vector<std::string> arguments = {"memprof", "serve"};
  for (const std::string& name : names) arguments.insert(arguments.end(), {"--host", name});
  std::vector<std::string> environment;
  const std::string variable = std::string(kTokenVariable) + "=";
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string(*each).starts_with(variable)) environment.emplace_back(*each);
  }
  environment.push_back(fmt::format("{}={},{},{},{}", kInheritance, listener.fd(), reading.get(),
                                    getpid(), listener.url()));
  if (!token.empty()) environment.push_back(variable + token);
  const std::vector<char*> argv = Pointers(arguments), variables = Pointers(environment);
  const pid_t between = fork();
  if (between == 0) Execute(argv, variables, listener.fd(), reading.get());
  int status = 1;
  if (between < 0 || (waitpid(between, &status, 0) != between && errno != ECHILD) || status != 0) {
    return Fail(ErrorKind::kIo, "--serve: the server's process can't be started");
  }
  listener.Release();
  return ServerProcess(std::move(writing));
}

Result<std::optional<ServerInheritance>> TakeInheritance() {
  const char* const value = std::getenv(kInheritance);
  if (value == nullptr) return std::nullopt;
  std::string text = value;
  unsetenv(kInheritance);
  const int listener = TakeNumber(text), end = TakeNumber(text), supervisor = TakeNumber(text);
  if (listener <= 2 || end <= 2 || supervisor <= 0 || fcntl(listener, F_SETFD, FD_CLOEXEC) != 0 ||
      fcntl(end, F_SETFD, FD_CLOEXEC) != 0) {
    return Fail(ErrorKind::kUsage, std::string(kInheritance) + " is for memprof run --serve alone");
  }
  ServerInheritance inherited;
  inherited.listener = ScopedFd(listener);
  inherited.end = ScopedFd(end);
  inherited.supervisor = supervisor;
  inherited.url = std::move(text);
  return inherited;
}

void StepBack() {
  setpriority(PRIO_PROCESS, 0, kNice);
  const ScopedFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) (void)!write(file.get(), "1000", 4);
}

}  // namespace memprof
