#include "cli/run/tree/children_area_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "core/mapping_line.h"

namespace memprof {
namespace {

bool IsGone(uint32_t pid) {
  return pid != kUnknownPid && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

ChildrenAreaFile::ChildrenAreaFile(int fd, uint64_t bytes, ChildrenHeader* header)
    : fd_(fd), bytes_(bytes), header_(header), known_(kMaxChildSlots, 0) {
  struct stat info;
  if (fstat(fd, &info) == 0) inode_ = info.st_ino;
}

ChildrenAreaFile::ChildrenAreaFile(ChildrenAreaFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      bytes_(other.bytes_),
      header_(std::exchange(other.header_, nullptr)),
      inode_(other.inode_),
      seen_(other.seen_),
      known_(std::move(other.known_)) {}

ChildrenAreaFile::~ChildrenAreaFile() {
  if (header_ != nullptr) munmap(header_, kChildrenHeaderBytes);
  if (fd_ >= 0) close(fd_);
}

Result<ChildrenAreaFile> ChildrenAreaFile::Make(uint32_t slots) {
  const auto fail = [](const char* what) {
    return Fail(ErrorKind::kIo, fmt::format("no memory for forked children: {}: {}; with "
                                            "--no-follow-fork none is needed",
                                            what, strerror(errno)));
  };
  const int fd = memfd_create("memprof-children", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fail("memfd_create");
  ChildrenHeader layout = {};
  uint64_t bytes = LayOutChildren(layout, slots);
  bool sized = ftruncate(fd, static_cast<off_t>(bytes)) == 0;
  // A limit on the size of files may be beyond our power.
  while (!sized && errno == EFBIG && slots > 1) {
    slots /= 2;
    bytes = LayOutChildren(layout, slots);
    sized = ftruncate(fd, static_cast<off_t>(bytes)) == 0;
  }
  void* header = MAP_FAILED;
  if (sized) {
    header = mmap(nullptr, kChildrenHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (header == MAP_FAILED) {
    const auto failed = fail("mapping it");
    close(fd);
    return failed;
  }
  // A region that shrinks under a reader or a child would be a SIGBUS.
  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  auto* mapped = static_cast<ChildrenHeader*>(header);
  LayOutChildren(*mapped, slots);
  return ChildrenAreaFile(fd, bytes, mapped);
}

RegionPlace ChildrenAreaFile::RegionOf(uint32_t slot) const {
  return {fd_, OffsetOfSlot(*header_, slot) + kPageBytes, header_->slot_bytes - kPageBytes};
}

std::vector<ChildrenAreaFile::Claim> ChildrenAreaFile::NewClaims() {
  std::vector<Claim> claims;
  const uint64_t claimed = header_->claimed.load(std::memory_order_acquire);
  if (claimed == seen_) return claims;
  bool all_ready = true;
  for (uint32_t slot = 0; slot < header_->slots; ++slot) {
    const ChildClaim& claim = header_->claims[slot];
    const uint32_t owner = claim.owner.load(std::memory_order_acquire);
    const uint32_t generation = claim.generation.load(std::memory_order_relaxed);
    if (owner == 0 || known_[slot] == generation + 1) continue;
    const bool gone = IsGone(owner);  // before the state is read
    uint32_t state = 0;
    uint64_t started_ns = 0;
    const auto at = static_cast<off_t>(RegionOf(slot).offset);
    (void)!pread(fd_, &state, sizeof state, at + static_cast<off_t>(offsetof(RegionHeader, state)));
    (void)!pread(fd_, &started_ns, sizeof started_ns,
                 at + static_cast<off_t>(offsetof(RegionHeader, started_ns)));
    if (state == static_cast<uint32_t>(TrackerState::kEmpty)) {
      if (gone && claim.foreign_pids == 0) {
        Free(slot);
      } else {
        all_ready = false;
      }
      continue;
    }
    known_[slot] = generation + 1;
    claims.push_back(
        {slot, owner, claim.foreign_pids != 0, ImageOfSlot(slot, generation), claim.parent,
         started_ns == 0
             ? std::chrono::steady_clock::now()
             : std::chrono::steady_clock::time_point(std::chrono::nanoseconds(started_ns))});
  }
  if (all_ready) seen_ = claimed;
  return claims;
}

// Whether the process maps the area from `offset` on with these permissions ("---s"; empty: any).
ChildrenAreaFile::Owns ChildrenAreaFile::Find(pid_t pid, const char* permissions,
                                              uint64_t offset) const {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  if (!maps) return errno == ENOENT || errno == ESRCH ? Owns::kNo : Owns::kUnknown;
  bool any = false;
  for (std::string line; std::getline(maps, line);) {
    any = true;
    if (line.find("memfd:memprof-children") == std::string::npos) continue;
    const auto mapping = ParseMappingLine(line);
    if (!mapping || mapping->inode != inode_) continue;
    // The supervisor itself has the header mapped, no more.
    const bool fits = permissions[0] == 0
                          ? mapping->offset + (mapping->end - mapping->start) > kChildrenHeaderBytes
                          : mapping->permissions == permissions && mapping->offset == offset;
    if (fits) return Owns::kYes;
  }
  // Of a process that has ended, and of the kernel's, there is nothing to read.
  return any || maps.eof() ? Owns::kNo : Owns::kUnknown;
}

ChildrenAreaFile::Owns ChildrenAreaFile::Has(pid_t pid, uint32_t slot) const {
  return Find(pid, "---s", OffsetOfSlot(*header_, slot));
}

bool ChildrenAreaFile::IsMappedBy(pid_t pid) const { return Find(pid, "", 0) == Owns::kYes; }

std::pair<ChildrenAreaFile::Owns, pid_t> ChildrenAreaFile::FindOwner(uint32_t slot) const {
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return {Owns::kUnknown, 0};
  std::pair<Owns, pid_t> found = {Owns::kNo, 0};
  while (const dirent* entry = readdir(processes)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    const Owns owns = Has(pid, slot);
    if (owns == Owns::kNo) continue;
    found = {owns, pid};
    if (owns == Owns::kYes) break;
  }
  closedir(processes);
  return found;
}

void ChildrenAreaFile::Free(uint32_t slot) {
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(OffsetOfSlot(*header_, slot)),
            static_cast<off_t>(header_->slot_bytes));
  header_->claims[slot].generation.fetch_add(1, std::memory_order_relaxed);
  header_->claims[slot].owner.store(0, std::memory_order_release);
}

}  // namespace memprof
