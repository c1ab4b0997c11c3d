#include "cli/live/live_source.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "cli/live/served_source.h"
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

LiveReading LiveSource::ReadServed(pid_t pid) {
  if (!ended_) {
    auto reading = ReadServedRun(*found_.served, found_.token);
    if (reading) {
      last_ = std::move(*reading);
      ended_ = last_.ended;
      found_.run = last_.run;
    } else {
      last_.run = found_.run;
      last_.trouble = reading.error().message;
    }
  }
  last_.served = true;
  LiveReading chosen = last_;
  std::erase_if(chosen.processes,
                [pid](const LiveProcess& each) { return pid != 0 && each.pid != pid; });
  return chosen;
}

LiveReading LiveSource::Read(pid_t pid) {
  if (found_.served) return ReadServed(pid);
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
    reading.processes.push_back({process.pid,
                                 process.program,
                                 std::move(*snapshot),
                                 ended_ ? 0 : ResidentBytesOf(process.pid),
                                 {}});
  }
  return reading;
}

std::string LiveSource::TakeMoment(const std::string& name, bool* taken) {
  if (found_.served) return TakeServedMoment(*found_.served, found_.token, name, taken);
  ControlRequest request = found_.request;
  request.action = ControlAction::kTakeNamedMoment;
  SetText(request.name, name);
  const ControlReply reply = AskSupervisor(found_.directory, found_.owner, request);
  if (taken != nullptr) *taken = reply.status == ControlStatus::kTaken;
  if (reply.status == ControlStatus::kTaken) return TextOfNamedMoment(reply);
  return reply.status == ControlStatus::kFailed ? "no snapshot: " + TextOf(reply.text)
                                                : "no snapshot: the run doesn't answer";
}

}  // namespace memprof
