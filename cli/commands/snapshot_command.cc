// memprof snapshot: asks the supervisor of a running program for a named moment. Exit status 0 if
// it was taken.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/basics/message.h"
#include "cli/basics/option_checks.h"
#include "cli/basics/output_name.h"
#include "cli/commands/commands.h"
#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/control_texts.h"
#include "cli/supervisor/run_directories.h"
#include "core/snapshot/history.h"
#include "core/snapshot/moment_choice.h"
#include "core/units.h"

namespace memprof {
namespace {

struct SnapshotCommandOptions {
  std::string target;
  std::string name;
};

std::optional<uid_t> OwnerOf(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_uid;
}

std::string WhyNobody(const ControlRequest& request, const std::string& target) {
  if (request.pid == 0) {
    return fmt::format(
        "{}: no memprof run of this user is writing it; give the capture that a run "
        "was started with, or the program's pid",
        target);
  }
  if (kill(static_cast<pid_t>(request.pid), 0) != 0 && errno == ESRCH) {
    return fmt::format("there is no process {}", request.pid);
  }
  return fmt::format(
      "process {} is not run by memprof, nor is it a memprof run, as far as this user "
      "can see; start it with: memprof run PROGRAM",
      request.pid);
}

int TakeNamedMoment(const SnapshotCommandOptions& options) {
  ControlRequest request;
  if (!options.name.empty()) {
    const auto moment = ParseMoment(options.name);
    if (!IsMomentName(options.name) || MomentName(options.name, {}) != options.name) {
      Say("'{}' can't be a snapshot's name: 1 to 60 characters, no '/' or '@', not peak or end",
          options.name);
      return kExitUsage;
    }
    if (moment && moment->kind == MomentSelector::Kind::kTime) {
      Say("'{}' would be taken for a time; give another name, or none to have it called by its "
          "time",
          options.name);
      return kExitUsage;
    }
    SetText(request.name, options.name);
  }
  std::error_code error;
  if (IsWholeNumber(options.target) && !std::filesystem::exists(options.target, error)) {
    request.pid = static_cast<uint32_t>(std::stoul(options.target));
    if (request.pid == 0) {
      Say("0 is no pid; give that of the program or of its memprof run");
      return kExitUsage;
    }
  } else {
    const std::string path = CanonicalName(options.target);
    if (path.empty() || path.size() >= sizeof request.capture) {
      Say("{}: not a file's name", options.target);
      return kExitUsage;
    }
    SetText(request.capture, path);
  }
  // Root also asks supervisors of the run's user: anybody may listen in a directory of his own.
  const uid_t owner =
      OwnerOf(request.pid != 0 ? fmt::format("/proc/{}", request.pid) : TextOf(request.capture))
          .value_or(geteuid());
  size_t silent = 0;
  for (const std::string& directory : RunDirectories(request.pid, owner)) {
    const ControlReply reply =
        AskSupervisor(directory, geteuid() == 0 ? owner : geteuid(), request);
    if (reply.status == ControlStatus::kTaken) {
      fmt::print("{}\n", TextOfNamedMoment(reply));
      return kExitFine;
    }
    if (reply.status == ControlStatus::kFailed) {
      Say("no snapshot: {}", TextOf(reply.text));
      return kExitFailed;
    }
    silent += reply.status == ControlStatus::kSilent;
  }
  if (silent != 0) {
    Say("no snapshot: no memprof run says that {} is its, and {} of this user did not answer "
        "within {} ms: stopped, or at its end",
        options.target, silent, kControlPatience.count());
    return kExitFailed;
  }
  Say("{}", WhyNobody(request, options.target));
  return kExitUsage;
}

}  // namespace

CommandBody SetUpSnapshot(Arguments& arguments) {
  auto options = std::make_shared<SnapshotCommandOptions>();
  arguments
      .Add("run", options->target,
           "The program's pid, that of its memprof run, or the run's capture or region")
      .Required()
      .TypeName("PID|CAPTURE");
  arguments.Add("--name", options->name, "What it is called (default: its time, as in 12m30s)")
      .TypeName("NAME");
  return [options] { return TakeNamedMoment(*options); };
}

}  // namespace memprof
