#include "cli/doctor/host_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>

#include "cli/preflight/elf_facts.h"
#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/images/region_file.h"

namespace memprof {
namespace {

HostCheck CheckPreloaded(const char* row, const Result<std::string>& path) {
  if (!path) return {row, false, true, path.error().message};
  const auto facts = ReadElfFacts(*path);
  if (!facts) return {row, false, true, *path + " is damaged; install it again"};
  std::string needed;
  for (const std::string& name : facts->needed) needed += (needed.empty() ? "" : ", ") + name;
  const bool foreign =
      std::any_of(facts->needed.begin(), facts->needed.end(), [](const std::string& name) {
        return !name.starts_with("libc.so.") && !name.starts_with("ld-linux");
      });
  return {row, !foreign, true,
          fmt::format("{} (needs {}{})", *path, needed,
                      foreign ? ": more than libc, it would disturb programs" : "")};
}

HostCheck CheckLibc() {
  const bool finds = dlsym(RTLD_DEFAULT, "_dl_find_object") != nullptr;
  return {"glibc", finds, true,
          fmt::format("{}{}", gnu_get_libc_version(),
                      finds ? "" : " is too old: 2.35 or newer finds unwind data without a lock")};
}

HostCheck CheckRegion() {
  const auto region = RegionFile::InMemory();
  if (!region) return {"region", false, true, region.error().message};
  return {"region", true, true, fmt::format("up to {} MiB of memory", region->bytes() >> 20)};
}

HostCheck CheckSocket() {
  auto directory = PrivateDirectory::Make();
  if (!directory) return {"socket", false, true, directory.error().message};
  const auto socket = TrackerSocket::Open(*directory);
  if (!socket) return {"socket", false, true, socket.error().message};
  return {"socket", true, true, "in " + directory->path().substr(0, directory->path().rfind('/'))};
}

HostCheck CheckProc() {
  const bool readable = access("/proc/self/status", R_OK) == 0;
  return {"/proc", readable, false,
          readable ? "readable" : "not readable: no resident memory, no commands in captures"};
}

}  // namespace

std::vector<HostCheck> CheckHost() {
  const auto preload = FindPreload();
  std::vector<HostCheck> checks = {CheckPreloaded("tracker", preload)};
  if (preload) checks.push_back(CheckPreloaded("jemalloc", FindJemallocPreload(*preload)));
  checks.insert(checks.end(), {CheckLibc(), CheckRegion(), CheckSocket(), CheckProc()});
  return checks;
}

}  // namespace memprof
