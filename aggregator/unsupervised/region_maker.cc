#include "aggregator/unsupervised/region_maker.h"

#include <dirent.h>
#include <errno.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <cstring>

#include "aggregator/basics/environment.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/unsupervised/output_path.h"
#include "aggregator/unsupervised/random_number.h"
#include "aggregator/unsupervised/region_allocation.h"
#include "core/protocol/unsupervised.h"

namespace memprof {
namespace {

constexpr uint64_t kLeastRegion = 1ull << 20;  // a smaller file is a capture, not a region
constexpr uint32_t kMostAttempts = 1000;
constexpr uint32_t kLongestCommand = 64 * 1024;

constinit OutputPath output;
constinit UnsupervisedOptions options;
constinit bool makes_regions = false;

// The root directory and the folder of the regions at the start.
struct Places {
  dev_t root_device = 0, folder_device = 0;
  ino_t root = 0, folder = 0;
};
constinit Places places;

// By its first event, a forked child may have another root, with a folder of the same name in it.
bool FindPlaces(Places* found) {
  struct stat root, folder;
  const char* name = output.Folder();
  if (name == nullptr || kernel::Stat("/", &root) != 0 || kernel::Stat(name, &folder) != 0)
    return false;
  *found = {root.st_dev, folder.st_dev, root.st_ino, folder.st_ino};
  return true;
}

bool IsWhereItWas() {
  Places now;
  return FindPlaces(&now) && now.root_device == places.root_device && now.root == places.root &&
         now.folder_device == places.folder_device && now.folder == places.folder;
}

// The number of regions among the files of these names; max_files: no more are allowed.
uint32_t CountRegions() {
  const char* folder = output.Folder();
  const int fd = folder != nullptr ? kernel::Open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0) return options.max_files;  // it isn't known
  alignas(dirent64) static char entries[2048];
  uint32_t count = 0;
  long n = 0;
  while (count < options.max_files &&
         (n = kernel::Call(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
    for (long at = 0; at < n && count < options.max_files;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      struct stat info;
      if (output.Fits(entry->d_name) &&
          kernel::Stat(entry->d_name, &info, AT_SYMLINK_NOFOLLOW, fd) == 0 &&
          S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) >= kLeastRegion) {
        ++count;
      }
    }
  }
  kernel::Close(fd);
  return n < 0 ? options.max_files : count;
}

// True if the name belongs to something beside which no region may be made: a device, or a link to
// anything that exists (/dev/stderr).
bool IsNoPlace(const char* name) {
  struct stat info;
  if (kernel::Stat(name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (S_ISLNK(info.st_mode)) return kernel::Stat(name, &info) == 0;
  return !S_ISREG(info.st_mode);
}

// Makes a new file under the first free name; -1: none may be made. `attempt` gets its number.
int CreateFile(uint32_t first, uint32_t* attempt) {
  const uint32_t pid = kernel::Pid();
  bool counted = false;
  for (uint32_t i = first; i <= kMostAttempts; ++i) {
    // The name itself is always tried; the number of further files is limited.
    if (!counted && (i > 1 || output.HasPid())) {
      if (CountRegions() >= options.max_files) return -1;
      counted = true;
    }
    const char* name = output.Name(pid, i);
    if (name == nullptr) return -1;
    const int fd = kernel::Open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    *attempt = i;
    if (fd >= 0) return fd;
    // Without descendants there are no other names. No files are made beside a device.
    if (fd != -EEXIST || (!options.follow_fork && !output.HasPid()) || IsNoPlace(name)) return -1;
  }
  return -1;
}

// Makes a file of its own from the `first` attempt on. Errors so far are recorded in it.
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
      const char* name = output.Name(kernel::Pid(), attempt);
      if (name != nullptr) kernel::Call(SYS_unlink, name);
    }
    kernel::Close(fd);
  }
  UnmapMemory(header, kPageBytes);
  return mapped;
}

}  // namespace

MappedRegion MakeRegion() {
  const char* pattern = EnvironmentValue(kOutputVariable);
  // A program with more rights than its caller takes no file name from it.
  if (pattern == nullptr || *pattern == 0 || AuxiliaryValue(AT_SECURE) != 0) return {};
  static char directory[OutputPath::kLongest + 1];
  // "(unreachable)/…" is a directory under another root.
  if (pattern[0] != '/' &&
      (kernel::Call(SYS_getcwd, directory, sizeof directory) < 0 || directory[0] != '/')) {
    return {};
  }
  if (!output.Init(pattern, directory, program_invocation_short_name)) return {};
  const OptionsTrouble trouble =
      ReadUnsupervisedOptions(EnvironmentValue(kOptionsVariable), &options);
  if (trouble.why != nullptr) options = {};
  if (options.tracker.sample_bytes != 0) options.tracker.sample_seed = RandomNumber();
  const MappedRegion mapped = MakeFile(1, kRegionBudget, options.tracker, trouble);
  makes_regions = mapped.base != nullptr && options.follow_fork && FindPlaces(&places);
  return mapped;
}

bool MakesRegionsOfChildren() { return makes_regions; }

MappedRegion MakeRegionOfChild(const Region& parent) {
  // Files can't be made with only an allocator's system calls.
  if (!makes_regions || SystemCallsFiltered()) return {};
  if (!IsWhereItWas()) return {};
  // A child's file always has its pid in the name.
  const uint32_t first = output.HasPid() ? 1 : 2;
  return MakeFile(first, kSmallRegionBudget, parent.header().options, {});
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
