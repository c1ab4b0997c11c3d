#include "cli/live/live_source.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "cli/supervisor/control_texts.h"
#include "core/region/region_reader.h"

namespace memprof {
namespace {

uint64_t ResidentBytesOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  uint64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

LiveReading LiveSource::Read(pid_t pid) {
  LiveReading reading;
  if (!ended_) {
    ControlStatus why = ControlStatus::kNobody;
    auto run = AskForRun(found_.directory, found_.owner, found_.request, &why);
    if (run) found_.run = std::move(*run);
    // A supervisor that is stopped, or busy for more than a second, has not ended.
    ended_ = !run && (why == ControlStatus::kNobody || why == ControlStatus::kNotMine);
    reading.silent = !run && !ended_;
  }
  reading.run = found_.run;
  reading.ended = ended_;
  for (const ShownProcess& process : found_.run.processes) {
    if (pid != 0 && process.pid != pid) continue;
    SnapshotProgram program;
    program.program = process.program;
    program.pid = static_cast<uint32_t>(process.pid);
    program.start_unix_ms = process.start_unix_ms;
    auto snapshot = ReadRegion(process.region, program);
    if (!snapshot) continue;
    reading.processes.push_back({process.pid, process.program, std::move(*snapshot),
                                 ended_ ? 0 : ResidentBytesOf(process.pid)});
  }
  return reading;
}

std::string LiveSource::TakeMoment(const std::string& name) {
  ControlRequest request = found_.request;
  request.action = ControlAction::kTakeNamedMoment;
  SetText(request.name, name);
  const ControlReply reply = AskSupervisor(found_.directory, found_.owner, request);
  if (reply.status == ControlStatus::kTaken) return TextOfNamedMoment(reply);
  return reply.status == ControlStatus::kFailed ? "no snapshot: " + TextOf(reply.text)
                                                : "no snapshot: the run doesn't answer";
}

}  // namespace memprof
