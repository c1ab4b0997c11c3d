#include "aggregator/unsupervised/region_allocation.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "aggregator/unsupervised/any_number.h"

namespace memprof {
namespace {

constexpr uint64_t kSmallestBudget = 1ull << 20;
constexpr uint64_t kShareOfFree = 4;

int64_t NowUnixMs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

uint64_t LimitOf(__rlimit_resource resource) {
  rlimit limit;
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// A text of a fixed room: what is too much is left out.
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

// Where a page that was written may need new room when it is written again, and a disk that is full
// by then would be a SIGBUS.
bool CopiesOnWrite(const struct statfs& info) {
  constexpr unsigned long kBcachefs = 0xca451a4e, kZfs = 0x2fc12fc1;
  const auto type = static_cast<unsigned long>(info.f_type);
  return type == BTRFS_SUPER_MAGIC || type == kBcachefs || type == kZfs;
}

uint64_t FreeBytes(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info) != 0 || info.f_bsize <= 0) return 0;
  return info.f_bavail * static_cast<uint64_t>(info.f_bsize);
}

bool WriteHeader(int fd, const RegionHeader& header) {
  return pwrite(fd, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
}

}  // namespace

uint64_t AllocateRegion(int fd, uint64_t budget, const TrackerOptions& tracker,
                        RegionHeader& header, const char** why) {
  *why = "there is no room for a region; it takes at most a quarter of what is free";
  struct statfs info;
  if (fstatfs(fd, &info) != 0) return 0;
  if (CopiesOnWrite(info)) {
    *why = "its file system (btrfs, bcachefs, zfs) can't keep room for a region; name another";
    return 0;
  }
  const bool is_memory = info.f_type == TMPFS_MAGIC;
  if (is_memory && budget > kSmallRegionBudget) budget = kSmallRegionBudget;
  const uint64_t largest_file = LimitOf(RLIMIT_FSIZE);
  const uint64_t share_of_memory = LimitOf(RLIMIT_AS) / 16;
  for (; budget >= kSmallestBudget; budget /= 2) {
    memset(static_cast<void*>(&header), 0, sizeof header);
    const uint64_t bytes = LayOutRegion(header, budget);
    // Beyond the limit would be a SIGXFSZ of the program.
    if (bytes > largest_file || bytes > FreeBytes(fd) / kShareOfFree) continue;
    if (bytes > share_of_memory && budget > kSmallestBudget) continue;
    int error;
    do {
      error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    } while (error == EINTR);
    header.options = tracker;
    header.origin.unsupervised.store(1, std::memory_order_relaxed);
    header.origin.start_unix_ms = NowUnixMs();
    header.origin.run_id = AnyNumber();
    // Others may have taken theirs at the same time: then all of them were too much.
    const bool leaves_enough = FreeBytes(fd) / (kShareOfFree - 1) >= bytes;
    if (error == 0 && leaves_enough && WriteHeader(fd, header)) return bytes;
    if (ftruncate(fd, 0) != 0 || error == ENOSPC) break;
  }
  return 0;
}

bool LeaveTrouble(int fd, const char* subject, const OptionsTrouble& trouble,
                  RegionHeader& header) {
  memset(static_cast<void*>(&header), 0, sizeof header);
  const uint64_t bytes = LayOutRegion(header, kSmallestBudget);
  if (bytes > LimitOf(RLIMIT_FSIZE)) return false;
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
  header.pid = static_cast<uint32_t>(getpid());
  header.state.store(static_cast<uint32_t>(TrackerState::kStopped), std::memory_order_relaxed);
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0 && WriteHeader(fd, header);
}

}  // namespace memprof
