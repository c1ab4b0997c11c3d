#include "cli/commands/run/run_live.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "cli/basics/message.h"
#include "cli/inspect/viewer_inspection.h"
#include "cli/live/live_session.h"
#include "cli/live/runs.h"
#include "cli/live/top_screen.h"
#include "cli/terminal/full_screen.h"

namespace memprof {
namespace {

constexpr std::chrono::milliseconds kLooksForOutput{100};
constexpr std::chrono::milliseconds kLooksForRun{20};
constexpr int kFirstOwnDescriptor = 10;
// Leaves the alternative screen and shows the cursor, for a view that was killed.
constexpr char kLeaveScreen[] = "\033[?1049l\033[?25h\r\n";

bool HasEnded(int go) {
  pollfd end = {go, 0, 0};
  return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
}

// The run that `parent` supervises; none: it has ended before it answered.
std::optional<FoundRun> FindOwnRun(const std::string& directory, pid_t parent, int go) {
  FoundRun found;
  found.directory = directory;
  found.owner = geteuid();
  found.request.action = ControlAction::kShow;
  found.request.pid = static_cast<uint32_t>(parent);
  for (;;) {
    auto run = AskForRun(directory, found.owner, found.request);
    if (run && !run->processes.empty()) {
      found.run = std::move(*run);
      return found;
    }
    if (HasEnded(go)) return std::nullopt;
    std::this_thread::sleep_for(kLooksForRun);
  }
}

// In the forked process.
void View(int go, pid_t parent, ProgramOutput& output) {
  // The program gets them, and its end is to be seen.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  char directory[PATH_MAX] = {};
  ssize_t n;
  do {
    n = read(go, directory, sizeof directory - 1);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return;
  if (auto found = FindOwnRun(directory, parent, go)) {
    LiveSession session(std::move(*found));
    session.Look();
    TopScreenOptions options;
    options.output = &output;
    options.inspect = InspectionTextOf;
    options.cost_of_inspecting = CostOfInspecting;
    ShowTopScreen(session, options);
  }
  while (!HasEnded(go)) {
    output.Print();
    std::this_thread::sleep_for(kLooksForOutput);
  }
  output.Print();
}

}  // namespace

Result<LiveRun> LiveRun::Start() {
  termios terminal = {};
  if (!FullScreen::CanShow() || tcgetattr(STDIN_FILENO, &terminal) != 0) {
    return Fail(ErrorKind::kUsage,
                "--live needs a terminal; without one: memprof run, and memprof top beside it");
  }
  auto output = ProgramOutput::Make();
  if (!output) return tl::unexpected<Error>(output.error());
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("pipe: {}", strerror(errno)));
  }
  ScopedFd reading(fds[0]), writing(fds[1]);
  const pid_t parent = getpid();
  const pid_t view = fork();
  if (view < 0) return Fail(ErrorKind::kIo, fmt::format("fork: {}", strerror(errno)));
  if (view == 0) {
    writing.Reset();
    int status = 0;
    try {
      View(reading.get(), parent, *output);
    } catch (const std::exception&) {
      status = 1;  // the parent prints the output
    }
    _exit(status);  // what the parent made isn't ours to remove
  }
  return LiveRun(std::move(*output), std::move(writing), view, terminal);
}

LiveRun::~LiveRun() {
  if (view_ <= 0 || !go_) return;
  go_.Reset();
  waitpid(view_, nullptr, 0);
}

void LiveRun::Redirect() {
  const ScopedFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int to[] = {nothing.get(), output_.out(), output_.err()};
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    standard_[fd].Reset(fcntl(fd, F_DUPFD_CLOEXEC, kFirstOwnDescriptor));
    dup2(to[fd], fd);
  }
}

std::vector<int> LiveRun::Descriptors() const {
  std::vector<int> all = {go_.get(), output_.out(), output_.err()};
  for (const ScopedFd& fd : standard_) all.push_back(fd.get());
  return all;
}

void LiveRun::Show(const std::string& directory) {
  is_shown_ = write(go_.get(), directory.data(), directory.size()) ==
              static_cast<ssize_t>(directory.size());
}

void LiveRun::Finish(Signals& signals) {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (standard_[fd]) dup2(standard_[fd].get(), fd);
    standard_[fd].Reset();
  }
  go_.Reset();
  AwaitView(signals);
  if (!is_shown_) return;
  output_.Print();
}

void LiveRun::AwaitView(Signals& signals) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(view_, &status, WNOHANG);
    if (ended == view_ || (ended < 0 && errno != EINTR)) break;
    pollfd signal = {signals.fd(), POLLIN, 0};
    poll(&signal, 1, 1000);
    while (const auto number = signals.NextOfAny()) {
      const bool asks =
          *number == SIGINT || *number == SIGTERM || *number == SIGHUP || *number == SIGQUIT;
      if (asks) kill(view_, SIGTERM);
    }
  }
  view_ = 0;
  if (!WIFSIGNALED(status)) return;
  (void)!write(STDOUT_FILENO, kLeaveScreen, sizeof kLeaveScreen - 1);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal_);
}

}  // namespace memprof
