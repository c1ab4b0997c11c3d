#include "aggregator/unsupervised/region_allocation.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <time.h>

#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/unsupervised/random_number.h"

namespace memprof {
namespace {

constexpr uint64_t kSmallestBudget = 1ull << 20;
constexpr uint64_t kShareOfFree = 4;

int64_t NowUnixMs() {
  timespec now = {};
  kernel::Call(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

// A text with a fixed room: the rest is cut.
class Text {
 public:
  template <size_t N>
  explicit Text(char (&room)[N]) : at_(room), end_(room + N - 1) {}
  void Add(const char* text) {
    while (*text != 0) Add(*text++);
  }
  void Add(const char* text, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) Add(text[i]);
  }

 private:
  void Add(char c) {
    if (at_ < end_) *at_++ = c;
  }
  char* at_;
  char* const end_;
};

// On such file systems a page that was written may need new room when it is written again; a disk
// that is full by then would be a SIGBUS.
bool CopiesOnWrite(const struct statfs& info) {
  constexpr unsigned long kBcachefs = 0xca451a4e, kZfs = 0x2fc12fc1;
  const auto type = static_cast<unsigned long>(info.f_type);
  return type == BTRFS_SUPER_MAGIC || type == kBcachefs || type == kZfs;
}

uint64_t FreeBytes(int fd) {
  struct statfs info;
  if (kernel::Call(SYS_fstatfs, fd, &info) != 0 || info.f_bsize <= 0) return 0;
  return info.f_bavail * static_cast<uint64_t>(info.f_bsize);
}

bool WriteHeader(int fd, const RegionHeader& header) {
  return kernel::WriteAt(fd, &header, sizeof header, 0) == long{sizeof header};
}

// Allocates all bytes of a new file. If the file system can't do that at once, writes a byte to
// each of its blocks. Returns 0, or -errno.
long FillWithRoom(int fd, uint64_t bytes) {
  constexpr uint64_t kBlock = 512;
  long error;
  do {
    error = kernel::Call(SYS_fallocate, fd, 0, 0, bytes);
  } while (error == -EINTR);
  if (error != -EOPNOTSUPP && error != -ENOSYS) return error;
  struct stat info;
  if (kernel::Stat(fd, &info) != 0) return -EIO;
  const auto said = static_cast<uint64_t>(info.st_blksize);
  const uint64_t block = said >= kBlock && said <= kPageBytes ? said : kBlock;
  for (uint64_t at = block - 1; at < bytes + block - 1; at += block) {
    const long written = kernel::WriteAt(fd, "", 1, at < bytes ? at : bytes - 1);
    if (written < 0) return written;
  }
  return 0;
}

}  // namespace

uint64_t AllocateRegion(int fd, uint64_t budget, const TrackerOptions& tracker,
                        RegionHeader& header, const char** why) {
  *why = "there is no room for a region; it takes at most a quarter of what is free";
  struct statfs info;
  if (kernel::Call(SYS_fstatfs, fd, &info) != 0) return 0;
  if (CopiesOnWrite(info)) {
    *why = "its file system (btrfs, bcachefs, zfs) can't keep room for a region; name another";
    return 0;
  }
  const bool is_memory = info.f_type == TMPFS_MAGIC;
  if (is_memory && budget > kSmallRegionBudget) budget = kSmallRegionBudget;
  const uint64_t largest_file = kernel::Limit(RLIMIT_FSIZE);
  const uint64_t share_of_memory = RegionShare(budget);
  for (; budget >= kSmallestBudget; budget /= 2) {
    memset(static_cast<void*>(&header), 0, sizeof header);
    const uint64_t bytes = LayOutRegion(header, budget);
    // Exceeding the limit would raise SIGXFSZ in the program.
    if (bytes > largest_file || bytes > FreeBytes(fd) / kShareOfFree) continue;
    if (budget > share_of_memory && budget > kSmallestBudget) continue;
    const long error = FillWithRoom(fd, bytes);
    header.options = tracker;
    header.origin.unsupervised.store(1, std::memory_order_relaxed);
    header.origin.start_unix_ms = NowUnixMs();
    header.origin.run_id = RandomNumber();
    // Other processes may have allocated at the same time: together they may be too much.
    const bool leaves_enough = FreeBytes(fd) / (kShareOfFree - 1) >= bytes;
    if (error == 0 && leaves_enough && WriteHeader(fd, header)) return bytes;
    if (kernel::Truncate(fd, 0) != 0 || error == -ENOSPC) break;
  }
  return 0;
}

bool LeaveTrouble(int fd, const char* subject, const OptionsTrouble& trouble,
                  RegionHeader& header) {
  memset(static_cast<void*>(&header), 0, sizeof header);
  const uint64_t bytes = LayOutRegion(header, kSmallestBudget);
  if (bytes > kernel::Limit(RLIMIT_FSIZE)) return false;
  Text text(header.origin.trouble);
  text.Add(subject);
  if (trouble.word != nullptr) {
    constexpr size_t kLongestWord = 32;
    text.Add("'");
    text.Add(trouble.word, trouble.word_bytes < kLongestWord ? trouble.word_bytes : kLongestWord);
    text.Add("' ");
  }
  text.Add(trouble.why);
  header.origin.unsupervised.store(1, std::memory_order_relaxed);
  header.origin.start_unix_ms = NowUnixMs();
  header.pid = kernel::Pid();
  header.state.store(static_cast<uint32_t>(TrackerState::kStopped), std::memory_order_relaxed);
  return kernel::Truncate(fd, bytes) == 0 && WriteHeader(fd, header);
}

}  // namespace memprof
