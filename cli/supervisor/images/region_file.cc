#include "cli/supervisor/images/region_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

namespace memprof {
namespace {

constexpr uint64_t kBudgetInMemory = 512ull << 20;
constexpr uint64_t kBudgetInFile = 64ull << 20;
constexpr uint64_t kSmallestBudget = 1ull << 20;

// `budget`, or a share of what the limit allows.
uint64_t Within(__rlimit_resource resource, uint64_t share, uint64_t budget) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return budget;
  return std::clamp<uint64_t>(limit.rlim_cur / share, kSmallestBudget, budget);
}

// We map the region as the program does, so it takes a share of our address space, too.
uint64_t WithinLimits(uint64_t budget, uint64_t most_bytes) {
  budget = Within(RLIMIT_FSIZE, 2, Within(RLIMIT_AS, 16, budget));
  // The tables laid out for a budget take somewhat more than it.
  RegionHeader header = {};
  const uint64_t bytes = LayOutRegion(header, budget);
  if (bytes > most_bytes) {
    budget = static_cast<uint64_t>(static_cast<double>(budget) * static_cast<double>(most_bytes) /
                                   static_cast<double>(bytes));
  }
  return std::max(budget, kSmallestBudget);
}

std::string Why(int error) {
  const std::string why = strerror(error);
  return error == EFBIG ? why + " (for the limit on file sizes, ulimit -f)" : why;
}

}  // namespace

Result<RegionFile> RegionFile::LayOut(ScopedFd made, uint64_t budget_bytes, bool allocate) {
  RegionHeader header = {};
  const uint64_t bytes = LayOutRegion(header, budget_bytes);
  const int fd = made.get();
  RegionFile file(RegionPlace(std::make_shared<const ScopedFd>(std::move(made)), 0, 0,
                              LayoutFor(budget_bytes)));
  int error = ftruncate(fd, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  if (error == 0 && allocate) error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    return Fail(ErrorKind::kIo,
                fmt::format("no room for a region of {} MiB: {}", bytes >> 20, Why(error)));
  }
  if (pwrite(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
    return Fail(ErrorKind::kIo, fmt::format("the region can't be written: {}", strerror(errno)));
  }
  return file;
}

bool RegionFile::SetOptions(const TrackerOptions& options) {
  return pwrite(fd(), &options, sizeof options, offsetof(RegionHeader, options)) ==
         static_cast<ssize_t>(sizeof options);
}

Result<RegionFile> RegionFile::InMemory(uint64_t most_bytes) {
  ScopedFd fd(memfd_create("memprof-region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    return Fail(ErrorKind::kIo,
                fmt::format("memfd_create: {}; try --region FILE", strerror(errno)));
  }
  auto region = LayOut(std::move(fd), WithinLimits(kBudgetInMemory, most_bytes), false);
  // If a region shrank, a reader or the program would get a SIGBUS. If it grew, it would take
  // memory that nobody meant it to have.
  if (region) fcntl(region->fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return region;
}

Result<RegionFile> RegionFile::InFile(const std::string& path, bool overwrite,
                                      uint64_t most_bytes) {
  const std::string fresh = overwrite ? fmt::format("{}.new{}", path, getpid()) : path;
  ScopedFd fd(open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) {
    if (errno == EEXIST) {
      return Fail(ErrorKind::kExists, fmt::format("{} exists; use -f to overwrite it", fresh));
    }
    return Fail(ErrorKind::kIo, fmt::format("{}: {}", fresh, strerror(errno)));
  }
  auto region = LayOut(std::move(fd), WithinLimits(kBudgetInFile, most_bytes), true);
  if (region && overwrite && std::rename(fresh.c_str(), path.c_str()) != 0) {
    region = Fail(ErrorKind::kIo, fmt::format("{}: {}", path, strerror(errno)));
  }
  if (!region) {
    unlink(fresh.c_str());
    return Fail(region.error().kind, fmt::format("--region: {}", region.error().message));
  }
  return region;
}

void RaiseOwnLimits() {
  for (const auto resource : {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(resource, &none) == 0 || getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
}

}  // namespace memprof
