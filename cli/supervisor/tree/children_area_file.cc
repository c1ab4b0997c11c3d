#include "cli/supervisor/tree/children_area_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "cli/basics/proc_files.h"
#include "core/once.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

using std::chrono::steady_clock;

// A pid below 1 would mean a process group, or all processes.
bool IsGone(uint32_t owner) {
  const auto pid = static_cast<pid_t>(owner);
  return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

ChildrenAreaFile::ChildrenAreaFile(ScopedFd fd, const ChildrenLayout& layout,
                                   ChildrenHeader* header)
    : fd_(std::make_shared<const ScopedFd>(std::move(fd))),
      layout_(layout),
      region_layout_(LayoutFor(layout.region_budget)),
      header_(header),
      slots_(layout.slots) {
  struct stat info;
  if (fstat(fd_->get(), &info) == 0) inode_ = info.st_ino;
}

ChildrenAreaFile::ChildrenAreaFile(ChildrenAreaFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      layout_(other.layout_),
      region_layout_(std::move(other.region_layout_)),
      header_(std::exchange(other.header_, nullptr)),
      made_(other.made_),
      inode_(other.inode_),
      seen_(other.seen_),
      slots_(std::move(other.slots_)) {}

ChildrenAreaFile::~ChildrenAreaFile() {
  if (header_ != nullptr) munmap(header_, kChildrenHeaderBytes);
}

Result<ChildrenAreaFile> ChildrenAreaFile::Make(uint32_t slots) {
  const auto fail = [](const char* what) {
    return Fail(ErrorKind::kIo, fmt::format("no memory for forked children: {}: {}; with "
                                            "--no-follow-fork none is needed",
                                            what, strerror(errno)));
  };
  ScopedFd fd(memfd_create("memprof-children", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail("memfd_create");
  ChildrenLayout layout = LayOutChildren(slots);
  bool sized = ftruncate(fd.get(), static_cast<off_t>(layout.bytes())) == 0;
  // Our limit on file sizes may be fixed. So try smaller slots first, then fewer.
  while (!sized && errno == EFBIG &&
         (layout.region_budget > kSmallestChildBudget || layout.slots > 1)) {
    const bool smaller = layout.region_budget > kSmallestChildBudget;
    layout = smaller ? LayOutChildren(layout.slots, layout.region_budget / 2)
                     : LayOutChildren(layout.slots / 2, layout.region_budget);
    sized = ftruncate(fd.get(), static_cast<off_t>(layout.bytes())) == 0;
  }
  void* header = MAP_FAILED;
  if (sized) {
    header = mmap(nullptr, kChildrenHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  }
  if (header == MAP_FAILED) return fail("mapping it");
  // A region that shrinks under a reader or a child would be a SIGBUS.
  fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  auto* mapped = static_cast<ChildrenHeader*>(header);
  mapped->magic = kChildrenMagic;
  mapped->layout = layout;
  return ChildrenAreaFile(std::move(fd), layout, mapped);
}

RegionPlace ChildrenAreaFile::RegionOf(uint32_t slot) const {
  return {fd_, layout_.OffsetOf(slot) + kPageBytes, region_layout_->bytes, region_layout_};
}

// 0: the region doesn't say.
steady_clock::time_point ChildrenAreaFile::Started(uint64_t started_ns) const {
  const auto now = steady_clock::now();
  const auto since =
      std::chrono::nanoseconds(std::min<uint64_t>(started_ns, std::numeric_limits<int64_t>::max()));
  if (started_ns == 0) return now;
  return std::clamp(steady_clock::time_point(since), made_, now);
}

std::vector<ChildrenAreaFile::Claim> ChildrenAreaFile::NewClaims() {
  std::vector<Claim> claims;
  const uint64_t claimed = header_->claimed.load(std::memory_order_acquire);
  if (claimed == seen_) return claims;
  bool all_ready = true;
  for (uint32_t slot = 0; slot < layout_.slots; ++slot) {
    const ChildClaim& claim = header_->claims[slot];
    const uint32_t owner = claim.owner.load(std::memory_order_acquire);
    const uint32_t generation = slots_[slot].generation.load(std::memory_order_acquire);
    if (owner == 0 || slots_[slot].told == generation + 1) continue;
    const bool foreign_pids = (owner & kForeignPid) != 0;
    const uint32_t pid = owner == kUnknownPid ? owner : owner & ~kForeignPid;
    const bool gone = !foreign_pids && IsGone(owner);  // before the state is read
    uint32_t state = 0;
    uint64_t started_ns = 0;
    const auto at = static_cast<off_t>(RegionOf(slot).offset);
    (void)!pread(fd(), &state, sizeof state,
                 at + static_cast<off_t>(offsetof(RegionHeader, state)));
    (void)!pread(fd(), &started_ns, sizeof started_ns,
                 at + static_cast<off_t>(offsetof(RegionHeader, started_ns)));
    if (state == static_cast<uint32_t>(TrackerState::kEmpty)) {
      if (gone) {
        Free(slot);
      } else {
        all_ready = false;
      }
      continue;
    }
    slots_[slot].told = generation + 1;
    claims.push_back({slot, pid, foreign_pids, ImageOfSlot(slot, generation), Once(claim.parent),
                      Started(started_ns)});
  }
  if (all_ready) seen_ = claimed;
  return claims;
}

// Calls is_wanted for each mapping of the area in the process, until it returns true.
ChildrenAreaFile::Owns ChildrenAreaFile::Find(
    pid_t pid, const std::function<bool(const MappingLine&)>& is_wanted) const {
  ProcessMaps maps(pid);
  for (std::string line; maps.Next(line);) {
    if (line.find("memfd:memprof-children") == std::string::npos) continue;
    const auto mapping = ParseMappingLine(line);
    if (mapping && mapping->inode == inode_ && is_wanted(*mapping)) return Owns::kYes;
  }
  // If nothing can be read, nothing is known here; other calls tell whether the process has ended.
  return maps.whole() ? Owns::kNo : Owns::kUnknown;
}

std::optional<std::vector<uint32_t>> ChildrenAreaFile::GuardsOf(pid_t pid) const {
  std::vector<uint32_t> slots;
  const Owns found = Find(pid, [&](const MappingLine& mapping) {
    const uint64_t at = mapping.offset - layout_.first_offset;
    if (mapping.permissions == "r--s" && mapping.offset >= layout_.first_offset &&
        at % layout_.slot_bytes == 0) {
      slots.push_back(static_cast<uint32_t>(at / layout_.slot_bytes));
    }
    return false;
  });
  return found == Owns::kUnknown ? std::nullopt : std::optional(std::move(slots));
}

ChildrenAreaFile::Owns ChildrenAreaFile::Has(pid_t pid, uint32_t slot) const {
  const auto slots = GuardsOf(pid);
  if (!slots) return Owns::kUnknown;
  return std::find(slots->begin(), slots->end(), slot) != slots->end() ? Owns::kYes : Owns::kNo;
}

// The supervisor itself has only the header mapped.
bool ChildrenAreaFile::IsMappedBy(pid_t pid) const {
  return Find(pid, [](const MappingLine& mapping) {
           return mapping.offset + (mapping.end - mapping.start) > kChildrenHeaderBytes;
         }) == Owns::kYes;
}

void ChildrenAreaFile::Free(uint32_t slot) {
  fallocate(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(layout_.OffsetOf(slot)), static_cast<off_t>(layout_.slot_bytes));
  // The child takes its image's id from the generation.
  const uint32_t next = slots_[slot].generation.fetch_add(1, std::memory_order_release) + 1;
  header_->claims[slot].generation.store(next, std::memory_order_relaxed);
  header_->claims[slot].owner.store(0, std::memory_order_release);
}

}  // namespace memprof
