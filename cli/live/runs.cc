#include "cli/live/runs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/basics/option_checks.h"
#include "cli/basics/output_name.h"
#include "cli/live/served_addresses.h"
#include "cli/live/served_source.h"
#include "cli/supervisor/run_directories.h"

namespace memprof {
namespace {

constexpr size_t kAskedAtOnce = 32;

ControlRequest AnyRun() {
  ControlRequest request;
  request.action = ControlAction::kShow;
  return request;
}

uid_t OwnerOf(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 ? info.st_uid : geteuid();
}

// What came of asking in a directory.
struct Answer {
  std::optional<ShownRun> run;
  ControlStatus why = ControlStatus::kNobody;
};

// All are asked at once, since one that doesn't answer takes a while.
std::vector<Answer> AskIn(const std::vector<std::string>& directories, uid_t user,
                          const ControlRequest& request) {
  std::vector<Answer> answers(directories.size());
  std::atomic<size_t> next = 0;
  const auto ask = [&] {
    for (size_t i = next++; i < directories.size(); i = next++) {
      answers[i].run = AskForRun(directories[i], user, request, &answers[i].why);
    }
  };
  std::vector<std::thread> askers;
  try {
    while (askers.size() + 1 < std::min(kAskedAtOnce, directories.size())) askers.emplace_back(ask);
  } catch (const std::system_error&) {
    // The threads there are ask all.
  }
  ask();
  for (std::thread& asker : askers) asker.join();
  return answers;
}

// The runs that answer `request`, each once, with the directories where they listen. `silent` gets the
// number of those that don't.
std::vector<FoundRun> Ask(const ControlRequest& request, uid_t owner, size_t* silent = nullptr) {
  // Root also asks supervisors of the run's user: anybody may listen in a directory of his own.
  const uid_t user = geteuid() == 0 ? owner : geteuid();
  const auto directories = RunDirectories(request.pid, owner);
  auto answers = AskIn(directories, user, request);
  std::vector<FoundRun> found;
  std::set<pid_t> seen;
  for (size_t i = 0; i < answers.size(); ++i) {
    auto& [run, why] = answers[i];
    if (silent != nullptr && why == ControlStatus::kSilent) ++*silent;
    if (!run || !seen.insert(run->supervisor).second) continue;
    found.push_back({directories[i], user, request, std::move(*run), {}, {}});
  }
  std::sort(found.begin(), found.end(),
            [](const FoundRun& a, const FoundRun& b) { return a.run.program < b.run.program; });
  return found;
}

Result<FoundRun> OnlyOne(std::vector<FoundRun> found) {
  if (found.size() == 1) {
    // Later questions are for this run, whatever else is started.
    found[0].request.pid = static_cast<uint32_t>(found[0].run.supervisor);
    return std::move(found[0]);
  }
  if (found.empty()) {
    return Fail(ErrorKind::kUsage,
                "no memprof run of this user is alive; start one with: memprof run PROGRAM");
  }
  std::string pids;
  for (const FoundRun& each : found) pids += fmt::format(" {}", each.run.program);
  return Fail(
      ErrorKind::kUsage,
      fmt::format("{} runs are alive; give a pid:{} (memprof list says more)", found.size(), pids));
}

}  // namespace

std::vector<ShownRun> LivingRuns(size_t* silent) {
  std::vector<ShownRun> runs;
  const auto addresses = ServedAddresses();
  for (FoundRun& found : Ask(AnyRun(), geteuid(), silent)) {
    if (const auto at = addresses.find(found.run.supervisor); at != addresses.end()) {
      found.run.address = at->second;
    }
    runs.push_back(std::move(found.run));
  }
  return runs;
}

Result<FoundRun> FindRun(const std::string& target) {
  if (IsServedPlace(target)) return FindServedRun(target);
  ControlRequest request = AnyRun();
  if (target.empty()) return OnlyOne(Ask(request, geteuid()));
  std::error_code error;
  if (IsWholeNumber(target) && !std::filesystem::exists(target, error)) {
    if (target.size() > 9 || std::stoul(target) == 0) {
      return Fail(ErrorKind::kUsage, fmt::format("{} is no pid", target));
    }
    request.pid = static_cast<uint32_t>(std::stoul(target));
  } else {
    const std::string path = CanonicalName(target);
    if (path.empty() || path.size() >= sizeof request.capture) {
      return Fail(ErrorKind::kUsage, fmt::format("{}: not a file's name", target));
    }
    SetText(request.capture, path);
  }
  const uid_t owner =
      OwnerOf(request.pid != 0 ? fmt::format("/proc/{}", request.pid) : TextOf(request.capture));
  size_t silent = 0;
  std::vector<FoundRun> found = Ask(request, owner, &silent);
  if (!found.empty()) return std::move(found[0]);
  if (silent != 0) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: a memprof run doesn't answer that may be this one; if it was "
                            "stopped (Ctrl-Z, SIGSTOP), let it go on first",
                            target));
  }
  if (request.pid != 0) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("process {} is not run by memprof, as far as this user can see; memprof "
                    "list shows the runs that are alive",
                    target));
  }
  return Fail(
      ErrorKind::kUsage,
      fmt::format("{}: no memprof run of this user is writing it; memprof summary shows what "
                  "an ended run left",
                  target));
}

}  // namespace memprof
