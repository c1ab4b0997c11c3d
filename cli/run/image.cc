#include "cli/run/image.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/region_reader.h"

namespace memprof {
namespace {

std::string ProcPath(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// VmHWM: the most that was ever resident; 0: not known.
uint64_t ResidentPeak(pid_t pid) {
  std::ifstream status(ProcPath(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

}  // namespace

Image::Image(RegionFile region, pid_t pid, std::vector<std::string> command)
    : region_(std::move(region)), pid_(pid), start_(std::chrono::steady_clock::now()) {
  program_.program = ProgramName(pid);
  program_.pid = static_cast<uint32_t>(pid);
  program_.command = std::move(command);
  program_.start_unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
}

bool Image::Sample(std::chrono::milliseconds resolution) {
  const auto state = ReadPeak(region_.fd());
  if (!state) return false;
  const bool changed = state->current != current_ || state->peak != peak_;
  if (state->peak != peak_) {
    program_.peak_time_ms = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                              start_)
            .count());
    program_.peak_time_resolution_ms = static_cast<uint64_t>(resolution.count());
  }
  current_ = state->current;
  peak_ = state->peak;
  if (changed) program_.rss_peak_bytes = std::max(program_.rss_peak_bytes, ResidentPeak(pid_));
  return changed;
}

Result<Snapshot> Image::Read(EndKind end, uint32_t code) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  // A maximum since the last sample lies in the time since then.
  Sample(milliseconds(100));
  program_.end_kind = end;
  program_.end_code = code;
  program_.duration_ms = static_cast<uint64_t>(
      duration_cast<milliseconds>(std::chrono::steady_clock::now() - start_).count());
  return ReadRegion(region_.fd(), program_);
}

std::string ProgramName(pid_t pid) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink(ProcPath(pid, "exe"), error);
  return error ? std::string() : path.filename().string();
}

std::vector<std::string> CommandOf(pid_t pid) {
  std::ifstream file(ProcPath(pid, "cmdline"), std::ios::binary);
  std::vector<std::string> command;
  for (std::string argument; std::getline(file, argument, '\0');) command.push_back(argument);
  return command;
}

}  // namespace memprof
