#include "aggregator/unsupervised/region_maker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "aggregator/monotonic_clock.h"
#include "aggregator/private_memory.h"
#include "aggregator/region.h"
#include "aggregator/system_calls.h"
#include "aggregator/unsupervised/output_path.h"
#include "core/unsupervised.h"

extern "C" char** environ;

namespace memprof {
namespace {

// Of address space and of the disk; of a forked child, and where files are memory.
constexpr uint64_t kBudget = 64ull << 20;
constexpr uint64_t kSmallBudget = 16ull << 20;
constexpr uint64_t kSmallestBudget = 1ull << 20;
constexpr uint64_t kShareOfFree = 4;
constexpr uint64_t kLeastRegion = 1ull << 20;  // a smaller file is a capture, not a region
constexpr uint32_t kMostAttempts = 1000;
constexpr uint32_t kLongestCommand = 64 * 1024;

constinit OutputPath output;
constinit UnsupervisedOptions options;
constinit bool makes_regions = false;

// The root directory and the folder of the regions, as they were at the start.
struct Places {
  dev_t root_device = 0, folder_device = 0;
  ino_t root = 0, folder = 0;
};
constinit Places places;

// A forked child may have another root by its first event, and a folder of that name in it.
bool FindPlaces(Places* found) {
  struct stat root, folder;
  const char* name = output.Folder();
  if (name == nullptr || stat("/", &root) != 0 || stat(name, &folder) != 0) return false;
  *found = {root.st_dev, folder.st_dev, root.st_ino, folder.st_ino};
  return true;
}

bool IsWhereItWas() {
  Places now;
  return FindPlaces(&now) && now.root_device == places.root_device && now.root == places.root &&
         now.folder_device == places.folder_device && now.folder == places.folder;
}

// The calls below are cancellation points, and the host's malloc is none.
class CancellationOff {
 public:
  CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  CancellationOff(const CancellationOff&) = delete;
  ~CancellationOff() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

int64_t NowUnixMs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

uint64_t AnyNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) {
    number = MonotonicNs() ^ static_cast<uint64_t>(getpid()) << 48;
  }
  return number == 0 ? 1 : number;
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

// Regions among the files of these names; max_files: no more.
uint32_t CountRegions() {
  const char* folder = output.Folder();
  const int fd = folder != nullptr ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0) return options.max_files;  // it can't be told
  alignas(dirent64) static char entries[2048];
  uint32_t count = 0;
  ssize_t n = 0;
  while (count < options.max_files && (n = getdents64(fd, entries, sizeof entries)) > 0) {
    for (ssize_t at = 0; at < n && count < options.max_files;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      struct stat info;
      if (output.Fits(entry->d_name) &&
          fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
          static_cast<uint64_t>(info.st_size) >= kLeastRegion) {
        ++count;
      }
    }
  }
  close(fd);
  return n < 0 ? options.max_files : count;
}

// What has the name is no file that somebody's region may stand beside: a device, or a link to
// anything that is there (/dev/stderr).
bool IsNoPlace(const char* name) {
  struct stat info;
  if (lstat(name, &info) != 0) return false;
  if (S_ISLNK(info.st_mode)) return stat(name, &info) == 0;
  return !S_ISREG(info.st_mode);
}

// A new file under the first name that is free; -1: there is to be none. `attempt` is its number.
int CreateFile(uint32_t first, uint32_t* attempt) {
  const auto pid = static_cast<uint32_t>(getpid());
  bool counted = false;
  for (uint32_t i = first; i <= kMostAttempts; ++i) {
    // The name itself is asked for in any case; what comes beside it is bounded.
    if (!counted && (i > 1 || output.HasPid())) {
      if (CountRegions() >= options.max_files) return -1;
      counted = true;
    }
    const char* name = output.Name(pid, i);
    if (name == nullptr) return -1;
    const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    *attempt = i;
    if (fd >= 0) return fd;
    // Without descendants nobody has another name. Beside a device there is no place for files.
    if (errno != EEXIST || (!options.follow_fork && !output.HasPid()) || IsNoPlace(name)) return -1;
  }
  return -1;
}

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

// Lays out the largest region that there is room for. `header` is all zero. 0: there is none, and
// `why`.
uint64_t AllocateRegion(int fd, uint64_t budget, const TrackerOptions& tracker,
                        RegionHeader& header, const char** why) {
  *why = "there is no room for a region; it takes at most a quarter of what is free";
  struct statfs info;
  if (fstatfs(fd, &info) != 0) return 0;
  if (CopiesOnWrite(info)) {
    *why = "its file system (btrfs, bcachefs, zfs) can't keep room for a region; name another";
    return 0;
  }
  if (info.f_type == TMPFS_MAGIC && budget > kSmallBudget) budget = kSmallBudget;  // it is memory
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

// The file holds a region in which nothing was counted, and why. It takes two pages on the disk.
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

// A file of its own from the `first` attempt on. What is wrong already is left there.
MappedRegion MakeFile(uint32_t first, uint64_t budget, const TrackerOptions& tracker,
                      const OptionsTrouble& trouble) {
  auto* header = static_cast<RegionHeader*>(MapMemory(kPageBytes));
  if (header == nullptr) return {};
  MappedRegion mapped;
  uint32_t attempt = 0;
  const int fd = CreateFile(first, &attempt);
  if (fd >= 0) {
    bool keep;
    if (trouble.why != nullptr) {
      keep = LeaveTrouble(fd, "MEMPROF_OPTIONS: ", trouble, *header);
    } else {
      const char* why = nullptr;
      mapped.bytes = AllocateRegion(fd, budget, tracker, *header, &why);
      if (mapped.bytes != 0) mapped.base = MapRegion(fd, mapped.bytes);
      keep = mapped.base != nullptr ||
             LeaveTrouble(fd, "",
                          {mapped.bytes != 0 ? "there is no memory to be had" : why, nullptr, 0},
                          *header);
    }
    if (!keep) {
      const char* name = output.Name(static_cast<uint32_t>(getpid()), attempt);
      if (name != nullptr) unlink(name);
    }
    close(fd);
  }
  UnmapMemory(header, kPageBytes);
  return mapped;
}

}  // namespace

const char* EnvironmentValue(const char* name) {
  const size_t bytes = strlen(name);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, bytes) == 0 && (*entry)[bytes] == '=') return *entry + bytes + 1;
  }
  return nullptr;
}

MappedRegion MakeRegion() {
  const char* pattern = EnvironmentValue(kOutputVariable);
  // Who runs with more rights than its caller takes no name of a file from it.
  if (pattern == nullptr || *pattern == 0 || getauxval(AT_SECURE) != 0) return {};
  static char directory[OutputPath::kLongest + 1];
  if (pattern[0] != '/' && getcwd(directory, sizeof directory) == nullptr) return {};
  if (!output.Init(pattern, directory, program_invocation_short_name)) return {};
  const OptionsTrouble trouble =
      ReadUnsupervisedOptions(EnvironmentValue(kOptionsVariable), &options);
  if (trouble.why != nullptr) options = {};
  if (options.tracker.sample_bytes != 0) options.tracker.sample_seed = AnyNumber();
  const CancellationOff off;
  const MappedRegion mapped = MakeFile(1, kBudget, options.tracker, trouble);
  makes_regions = mapped.base != nullptr && options.follow_fork && FindPlaces(&places);
  return mapped;
}

bool MakesRegionsOfChildren() { return makes_regions; }

MappedRegion MakeRegionOfChild(const Region& parent) {
  // Files can't be had with the calls of an allocator alone.
  if (!makes_regions || SystemCallsFiltered()) return {};
  const CancellationOff off;
  if (!IsWhereItWas()) return {};
  // A child has no other file than one with its pid.
  const uint32_t first = output.HasPid() ? 1 : 2;
  return MakeFile(first, kSmallBudget, parent.header().options, {});
}

void DescribeChild(const Region& parent, const Region& region) {
  RegionOrigin& origin = region.header().origin;
  const RegionOrigin& of_parent = parent.header().origin;
  const uint32_t bytes = of_parent.text_bytes.load(std::memory_order_acquire);
  if (bytes == 0) return;
  const uint32_t at = region.Take(Table::kStrings, bytes);
  if (at == kNoRecord) return;
  memcpy(region.Records<char>(Table::kStrings) + at,
         parent.Records<char>(Table::kStrings) + of_parent.text_offset, bytes);
  origin.text_offset = at;
  origin.text_bytes.store(bytes, std::memory_order_release);
}

void DescribeProgram(const Region& region, int argc, char** argv) {
  RegionOrigin& origin = region.header().origin;
  if (origin.unsupervised.load(std::memory_order_relaxed) == 0) return;
  const char* name = program_invocation_short_name;
  const auto name_bytes = static_cast<uint32_t>(strlen(name) + 1);
  uint32_t bytes = name_bytes;
  int words = 0;
  if (options.command_line) {
    for (; words < argc && argv[words] != nullptr; ++words) {
      const size_t more = strlen(argv[words]) + 1;
      if (more > kLongestCommand - bytes) break;
      bytes += static_cast<uint32_t>(more);
    }
  }
  const uint32_t at = bytes <= kLongestCommand ? region.Take(Table::kStrings, bytes) : kNoRecord;
  if (at == kNoRecord) return;
  char* to = region.Records<char>(Table::kStrings) + at;
  memcpy(to, name, name_bytes);
  to += name_bytes;
  for (int i = 0; i < words; ++i) {
    const size_t more = strlen(argv[i]) + 1;
    memcpy(to, argv[i], more);
    to += more;
  }
  origin.text_offset = at;
  origin.text_bytes.store(bytes, std::memory_order_release);
}

}  // namespace memprof
