#include "cli/run/region_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/region_layout.h"

namespace memprof {
namespace {

constexpr uint64_t kBudgetInMemory = 512ull << 20;
constexpr uint64_t kBudgetInFile = 64ull << 20;
constexpr uint64_t kSmallestBudget = 1ull << 20;

// The program maps the region: it takes a share of its address space.
uint64_t WithinAddressSpace(uint64_t budget) {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return budget;
  return std::clamp<uint64_t>(limit.rlim_cur / 16, kSmallestBudget, budget);
}

// RLIMIT_FSIZE holds for the memfd's size too, though nothing is written to a disk.
class WithoutFileSizeLimit {
 public:
  WithoutFileSizeLimit() {
    known_ = getrlimit(RLIMIT_FSIZE, &limit_) == 0;
    rlimit raised = limit_;
    raised.rlim_cur = raised.rlim_max;
    if (known_) setrlimit(RLIMIT_FSIZE, &raised);
  }
  ~WithoutFileSizeLimit() {
    if (known_) setrlimit(RLIMIT_FSIZE, &limit_);
  }
  WithoutFileSizeLimit(const WithoutFileSizeLimit&) = delete;
  WithoutFileSizeLimit& operator=(const WithoutFileSizeLimit&) = delete;

 private:
  rlimit limit_ = {};
  bool known_ = false;
};

uint64_t WithinFileSize(uint64_t budget) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return budget;
  return std::clamp<uint64_t>(limit.rlim_cur / 2, kSmallestBudget, budget);
}

}  // namespace

RegionFile::RegionFile(RegionFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_) {}

RegionFile& RegionFile::operator=(RegionFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RegionFile::~RegionFile() {
  if (fd_ >= 0) close(fd_);
}

Result<RegionFile> RegionFile::LayOut(int fd, uint64_t budget_bytes, bool allocate) {
  RegionHeader header = {};
  const uint64_t bytes = LayOutRegion(header, budget_bytes);
  RegionFile file(fd, bytes);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("no room for the region: {}", strerror(errno)));
  }
  if (allocate) {
    const int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    if (error != 0) {
      return Fail(ErrorKind::kIo, fmt::format("no room for the region ({} MiB): {}; free some, or "
                                              "put it elsewhere",
                                              bytes >> 20, strerror(error)));
    }
  }
  if (pwrite(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
    return Fail(ErrorKind::kIo, fmt::format("the region can't be written: {}", strerror(errno)));
  }
  return file;
}

Result<RegionFile> RegionFile::InMemory() {
  const int fd = memfd_create("memprof-region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    return Fail(ErrorKind::kIo, fmt::format("memfd_create: {}; try --region FILE", strerror(errno)));
  }
  const WithoutFileSizeLimit raised;
  auto region = LayOut(fd, WithinFileSize(WithinAddressSpace(kBudgetInMemory)), false);
  // A region that shrinks under a reader or the program would be a SIGBUS.
  if (region) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  return region;
}

Result<RegionFile> RegionFile::InFile(const std::string& path, bool overwrite) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (overwrite ? O_TRUNC : O_EXCL);
  const int fd = open(path.c_str(), flags, 0600);
  if (fd < 0) {
    if (errno == EEXIST) {
      return Fail(ErrorKind::kExists, fmt::format("{} exists; use -f to overwrite it", path));
    }
    return Fail(ErrorKind::kIo, fmt::format("{}: {}", path, strerror(errno)));
  }
  const WithoutFileSizeLimit raised;
  auto region = LayOut(fd, WithinFileSize(WithinAddressSpace(kBudgetInFile)), true);
  if (!region) unlink(path.c_str());
  return region;
}

}  // namespace memprof
