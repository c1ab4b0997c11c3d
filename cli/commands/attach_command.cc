// memprof attach PID: counts what a running program allocates from now on, then detaches. memprof
// detach PID: ends that from another terminal.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "cli/attach/attached_program.h"
#include "cli/attach/attachment.h"
#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/basics/option_checks.h"
#include "cli/basics/output_name.h"
#include "cli/basics/process_facts.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/named_moment_options.h"
#include "cli/commands/options/tracking_options.h"
#include "cli/preflight/inner_jemalloc_cache.h"
#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/control_texts.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/processes/standard_descriptors.h"
#include "cli/supervisor/supervisor.h"
#include "core/printable.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr int kAskTries = 10;
constexpr useconds_t kAskPause = 50'000;

struct AttachOptions {
  std::string pid;
  bool force = false;
  bool quiet = false;
  std::string output = kDefaultOutput;
  std::string duration;
  std::chrono::milliseconds checkpoint = std::chrono::seconds(30);
  bool command_line = true;
  TrackingFlags tracking;
  NamedMomentFlags named_moments;
};

// 0 if it is no pid.
pid_t ReadPid(const std::string& text) {
  return IsWholeNumber(text) ? static_cast<pid_t>(std::stol(text)) : 0;
}

Result<SupervisorOptions> ReadOptions(const AttachOptions& options, const TargetProcess& target) {
  SupervisorOptions read;
  read.program = target.program();
  read.output = ExpandName(options.output, target.program(), target.pid());
  read.overwrite = options.force;
  read.checkpoint = options.checkpoint;
  read.command_line = options.command_line;
  const auto tracker = ReadTrackingFlags(options.tracking);
  if (!tracker) return tl::unexpected<Error>(tracker.error());
  read.tracker = *tracker;
  const auto named_moments = ReadNamedMomentFlags(options.named_moments);
  if (!named_moments) return tl::unexpected<Error>(named_moments.error());
  read.named_moments = *named_moments;
  read.named_moments.program = target.program();
  read.named_moments.overwrite = options.force;
  if (auto fine = CheckOutput(read.output, "-o", options.force); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  if (auto fine = CheckCapturesOf(read.output, "-o"); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  return read;
}

std::string Milliseconds(std::chrono::microseconds time) {
  return fmt::format("{:.1f} ms", static_cast<double>(time.count()) / 1000);
}

// The other user whose process root attaches to; 0: it is our own.
uid_t OtherUserOf(pid_t pid) {
  if (geteuid() != 0) return 0;
  return UserOf(pid).value_or(0);
}

// The directory stays ours. The process's user may pass through it, and owns the socket that the
// tracker connects to.
Result<void> OpenTo(uid_t user, const PrivateDirectory& directory, const TrackerSocket& socket) {
  if (user == 0) return {};
  if (chmod(directory.path().c_str(), 0711) != 0 || chmod(socket.path().c_str(), 0600) != 0 ||
      lchown(socket.path().c_str(), user, static_cast<gid_t>(-1)) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("{}: {}", socket.path(), strerror(errno)));
  }
  return {};
}

int Attach(const AttachOptions& options) {
  HoldStandardDescriptors();
  const pid_t pid = ReadPid(options.pid);
  if (pid == 0) return Refuse(fmt::format("'{}' is no pid; see: ps -e", options.pid), kExitUsage);
  std::chrono::milliseconds duration(0);  // 0: until a detach is requested
  if (!options.duration.empty()) {
    const auto period = ReadPeriod("--duration", options.duration, std::chrono::milliseconds(1));
    if (!period) return Refuse(period.error().message, kExitUsage);
    duration = *period;
  }
  auto library = FindPreload();
  if (!library) return Refuse(library.error().message);
  *library = std::filesystem::path(*library).replace_filename(kAttachLibraryName).string();
  auto target = TargetProcess::Examine(pid, *library);
  if (!target) return Refuse(target.error().message);
  if (const auto state = target->State();
      state && state->phase == static_cast<uint32_t>(AttachPhase::kAttached) &&
      state->pid == NamespacePid(pid)) {
    return Refuse(fmt::format(
        "process {} is attached to already; end that first: memprof detach {}", pid, pid));
  }
  auto supervised = ReadOptions(options, *target);
  if (!supervised) return Refuse(supervised.error().message);
  const uid_t other_user = OtherUserOf(pid);
  auto directory = PrivateDirectory::Make(
      other_user != 0, [&target](const std::string& path) { return target->Sees(path); });
  if (!directory && directory.error().kind == ErrorKind::kUsage) {
    return Refuse(
        fmt::format("process {} can't reach memprof: {}; run memprof where it runs: "
                    "nsenter --mount --target {} memprof attach {}",
                    pid, directory.error().message, pid, pid));
  }
  if (!directory) return Refuse(directory.error().message);
  auto socket = TrackerSocket::Open(*directory);
  if (!socket) return Refuse(socket.error().message);
  auto control = ControlSocket::Open(*directory);
  if (!control) return Refuse(control.error().message);
  if (const auto open = OpenTo(other_user, *directory, *socket); !open) {
    return Refuse(open.error().message);
  }
  auto region = RegionFile::InMemory();
  if (!region) return Refuse(region.error().message);
  if (!options.quiet) {
    for (const std::string& warning : target->warnings()) Say("warning: {}", warning);
  }
  const std::string program = target->program();
  Attachment attachment(std::move(*target), {*library, socket->path(), duration});
  Signals signals;
  AttachedProgram attached(attachment, [&] {
    if (options.quiet) return;
    Say("attached to {} ({}), which stood still for {}; it is counted from now on. To end that: "
        "Ctrl-C, or memprof detach {}",
        pid, program, Milliseconds(attachment.times().longest_stop), pid);
  });
  const std::string output = supervised->output;
  InnerJemallocCache jemallocs;
  Supervisor supervisor(std::move(*supervised), signals, *socket, *control, jemallocs, attached,
                        std::move(*region));
  attachment.Begin();
  RunOutcome outcome = supervisor.Run();
  const AttachmentState end = attachment.Look();
  const bool failed = end == AttachmentState::kFailed;
  if (!attachment.error().empty() && !outcome.written && outcome.write_error.empty()) {
    return Refuse(attachment.error());
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(output, error);
  if (!outcome.signalled) outcome.code = 0;
  if (!options.quiet) FindKeptByRuntime(outcome);
  outcome.untracked_image.clear();  // said below
  const Conclusion conclusion = Conclude(outcome, output, error ? 0 : bytes, {}, options.quiet);
  if (failed) {
    Say("process {} could not be let go, and goes on with the tracker: {}; try memprof detach {}",
        pid, attachment.error(), pid);
  } else if (end == AttachmentState::kExecuted && !options.quiet) {
    Say("{} ({}) has executed another program: the capture ends there, and nothing of memprof is "
        "left in the process",
        pid, program);
  } else if (end == AttachmentState::kEnded && !outcome.signalled && !options.quiet) {
    Say("{} ({}) has ended", pid, program);
  } else if (outcome.still_running && !options.quiet) {
    Say("detached from {} ({}), which stood still for {} at most; {} put back", pid, program,
        Milliseconds(attachment.times().longest_stop),
        FormatCountOf(attachment.restored(), "slot"));
    if (!attachment.left().empty()) Say(attachment.left());
  }
  for (const std::string& line : conclusion.lines) Say(line);
  if (failed || !conclusion.has_capture) return kExitRefused;
  return kExitFine;
}

// The process has no supervisor any more: its figures are lost, but it can still be detached.
int DetachAlone(TargetProcess& target) {
  Injector injector(target);
  const auto restored = injector.Detach();
  if (!restored) {
    const std::string became = target.WhatBecame();
    return Refuse(became.empty() ? restored.error().message : became);
  }
  fmt::print(
      "detached from {} ({}); {} put back; its memprof attach is gone, and what it had not "
      "written yet is lost\n",
      target.pid(), Printable(target.program()), FormatCountOf(*restored, "slot"));
  if (const auto forgotten = injector.Forget(); !forgotten) Say(forgotten.error().message);
  return kExitFine;
}

int Detach(const std::string& text) {
  const pid_t pid = ReadPid(text);
  if (pid == 0) return Refuse(fmt::format("'{}' is no pid; see: ps -e", text), kExitUsage);
  auto library = FindPreload();
  if (!library) return Refuse(library.error().message);
  *library = std::filesystem::path(*library).replace_filename(kAttachLibraryName).string();
  auto target = TargetProcess::Examine(pid, *library);
  if (!target) return Refuse(target.error().message);
  const auto state = target->State();
  if (!state || state->phase != static_cast<uint32_t>(AttachPhase::kAttached)) {
    return Refuse(fmt::format("process {} is not attached to", pid));
  }
  ControlRequest request;
  request.pid = static_cast<uint32_t>(pid);
  request.action = ControlAction::kDetach;
  // A busy supervisor may turn a slow asker away: it has gone only when its socket has.
  ControlReply reply;
  reply.status = ControlStatus::kNobody;
  const auto place = DirectoryOf(*state);
  for (int tries = 0; place && tries < kAskTries; ++tries) {
    reply = AskSupervisor(*place, geteuid() == 0 ? OtherUserOf(pid) : geteuid(), request);
    if (reply.status != ControlStatus::kNobody || access(place->c_str(), F_OK) != 0) break;
    usleep(kAskPause);
  }
  switch (reply.status) {
    case ControlStatus::kTaken:
      fmt::print("detached from {} ({}); see: memprof summary {}\n", pid,
                 Printable(target->program()), CaptureOfDetached(reply));
      return kExitFine;
    case ControlStatus::kFailed:
      return Refuse(fmt::format("not detached: {}", TextOf(reply.text)));
    case ControlStatus::kSilent:
      return Refuse(
          fmt::format("the memprof attach of process {} doesn't answer: is it stopped?", pid));
    default:
      return DetachAlone(*target);
  }
}

}  // namespace

CommandBody SetUpAttach(Arguments& arguments) {
  auto options = std::make_shared<AttachOptions>();
  arguments.Add("pid", options->pid, "The process").Required().TypeName("PID");
  AddCaptureFileOptions(arguments, options->output, options->force);
  arguments.AddFlag("-q,--quiet", options->quiet, "Say nothing unless memprof failed");
  arguments
      .Add("--duration", options->duration,
           "Let the process go after so long (30, 90s, 5m, 1h30m); without it, at Ctrl-C or "
           "memprof detach")
      .TypeName("TIME");
  AddCheckpointOption(arguments, options->checkpoint);
  AddCommandLineOption(arguments, options->command_line);
  AddTrackingOptions(arguments, options->tracking);
  AddNamedMomentOptions(arguments, options->named_moments);
  return [options] { return Attach(*options); };
}

CommandBody SetUpDetach(Arguments& arguments) {
  auto pid = std::make_shared<std::string>();
  arguments.Add("pid", *pid, "The process").Required().TypeName("PID");
  return [pid] { return Detach(*pid); };
}

}  // namespace memprof
