#include "cli/run/tree/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/message.h"
#include "cli/process_facts.h"
#include "cli/run/jemalloc/inner_jemalloc_cache.h"
#include "cli/run/region_file.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookTick{100};
constexpr milliseconds kBusyTick{10};  // while children come
constexpr milliseconds kSampleTick{1000};
constexpr uint64_t kDescendantScale = 16;  // of its history's first intervals
constexpr size_t kCheckpointsALook = 4;
constexpr size_t kScaledAlone = 16;  // as many descendants; of more all begin coarser

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

ProcessTree::ProcessTree(ProcessTreeOptions options, pid_t program, InnerJemallocCache& jemallocs,
                         ChildrenAreaFile area, int epoll)
    : options_(std::move(options)),
      program_(program),
      program_started_(StartTicksOf(program).value_or(0)),
      area_(std::move(area)),
      epoll_(epoll),
      captures_(options_.captures),
      jemallocs_(jemallocs),
      next_look_(steady_clock::now() + kLookTick),
      next_sample_(next_look_ + kSampleTick),
      next_search_(next_look_),
      next_checkpoint_(steady_clock::now() + options_.checkpoint) {}

ProcessTree::~ProcessTree() {
  captures_.Settle();
  for (auto& [pid, process] : processes_) {
    if (process.pidfd >= 0) close(process.pidfd);
  }
  close(epoll_);
}

Result<std::unique_ptr<ProcessTree>> ProcessTree::Make(ProcessTreeOptions options, pid_t program,
                                                       InnerJemallocCache& jemallocs) {
  auto area = ChildrenAreaFile::Make();
  if (!area) return tl::unexpected<Error>(area.error());
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return Fail(ErrorKind::kIo, fmt::format("epoll: {}", strerror(errno)));
  return std::unique_ptr<ProcessTree>(
      new ProcessTree(std::move(options), program, jemallocs, std::move(*area), epoll));
}

bool ProcessTree::Wants(pid_t pid) {
  if (options_.filter.leaves_all()) return true;
  const auto names = ProgramNamesOf(pid);
  if (options_.filter.Takes(names)) return true;
  if (left_out_.emplace(pid, names.empty() ? std::string() : names[0]).second) ++outcome_.left_out;
  return false;
}

TrackerSocket::ForChildren ProcessTree::ForChildrenOf(ImageId image) const {
  return {area_.fd(), area_.bytes(), image};
}

ImageId ProcessTree::ProgramStarts(const SnapshotProgram& program) {
  runs_[++next_image_] = program;
  return next_image_;
}

// What the images of all descendants have in common.
ImageOrigin ProcessTree::NewOrigin() const {
  ImageOrigin origin;
  origin.history_scale = kDescendantScale;
  for (size_t n = processes_.size(); n > kScaledAlone; n /= 2) origin.history_scale *= 2;
  origin.command_line = options_.command_line;
  return origin;
}

// Of a forked child's image.
ImageOrigin ProcessTree::OriginOf(const ChildrenAreaFile::Claim& claim) const {
  const auto parent = runs_.find(claim.parent);
  ImageOrigin origin = NewOrigin();
  origin.forked_from = parent != runs_.end() ? &parent->second : nullptr;
  origin.start = claim.start;
  return origin;
}

bool ProcessTree::HasEnded(const Process& process) {
  pollfd ended = {process.pidfd, POLLIN, 0};
  return process.pidfd >= 0 && poll(&ended, 1, 0) > 0;
}

// The process; nullptr: it has ended. (Without a pidfd, on an old kernel, it is watched by
// looking.)
ProcessTree::Process* ProcessTree::Watch(pid_t pid) {
  const auto known = processes_.find(pid);
  if (known != processes_.end()) {
    // It may have ended, and its pid be another process' now: then its pidfd is readable.
    if (!HasEnded(known->second)) return &known->second;
    EndProcess(known);
  }
  const int pidfd = OpenPidfd(pid);
  if (pidfd < 0 && errno == ESRCH) return nullptr;
  Process& process = processes_[pid];
  process.pid = pid;
  process.pidfd = pidfd;
  process.suffix = fmt::format(".{}", pid);
  if (pidfd >= 0) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = pid;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, pidfd, &event);
  }
  return &process;
}

void ProcessTree::OnVisitor(TrackerSocket& socket, const TrackerSocket::Visitor& visitor) {
  if (!Wants(visitor.pid)) {
    TakeClaims();
    socket.SendAway(visitor);
    const auto known = processes_.find(visitor.pid);
    if (known != processes_.end() && !HasEnded(known->second)) {
      EndImage(known->second, EndKind::kExec, 0);
    }
    return;
  }
  auto region = RegionFile::InMemory();
  TrackerOptions tracker = options_.tracker;
  tracker.jemalloc = jemallocs_.Of(visitor.pid);
  if (!region || !region->SetOptions(tracker)) {
    Say(region ? "the tracker's options could not be written" : region.error().message);
    socket.SendAway(visitor);
    return;
  }
  const ImageId id = ++next_image_;
  const int fd = region->fd();
  const uint64_t bytes = region->bytes();
  auto image = std::make_unique<Image>(std::move(*region), visitor.pid, std::string(), NewOrigin());
  // What the process was before it executed this may not have been seen yet. While it waits for its
  // answer it can't end.
  TakeClaims();
  if (!socket.Admit(visitor, fd, bytes, ForChildrenOf(id))) return;
  Process* process = Watch(visitor.pid);
  if (process == nullptr) {  // ended already: the region has what there is
    Process gone;
    gone.pid = visitor.pid;
    gone.suffix = fmt::format(".{}", visitor.pid);
    gone.image = std::move(image);
    ++outcome_.processes;
    EndImage(gone, EndKind::kEnded, 0);
    return;
  }
  if (process->image != nullptr) {
    EndImage(*process, EndKind::kExec, 0);
  } else if (process->executed == 0) {
    ++outcome_.processes;
  }
  runs_[id] = image->program();
  process->image = std::move(image);
  process->id = id;
}

void ProcessTree::TakeClaims() {
  auto claims = area_.NewClaims();
  if (!claims.empty()) next_look_ = steady_clock::now() + kBusyTick;
  claims.insert(claims.begin(), unresolved_.begin(), unresolved_.end());
  unresolved_.clear();
  std::sort(claims.begin(), claims.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const auto& claim : claims) Take(claim);
}

void ProcessTree::Take(const ChildrenAreaFile::Claim& claim) {
  using Owns = ChildrenAreaFile::Owns;
  pid_t pid = static_cast<pid_t>(claim.pid);
  bool lives = true;
  bool executed = false;
  Process* process = nullptr;
  const bool scanned = claim.foreign_pids || claim.pid == kUnknownPid;
  if (scanned) {
    const auto [owns, owner] = area_.FindOwner(claim.slot);
    if (owns == Owns::kUnknown) {  // perhaps one that can't be asked: its slot stays its own
      unresolved_.push_back(claim);
      return;
    }
    lives = owns == Owns::kYes;
    if (lives) pid = owner;
  }
  if (lives) {
    process = Watch(pid);
    // The pidfd was opened before: who has the slot now is the process that is watched.
    const Owns owns = process != nullptr ? area_.Has(pid, claim.slot) : Owns::kNo;
    executed = owns == Owns::kNo && process != nullptr && !scanned && !HasEnded(*process);
    lives = owns != Owns::kNo;
  }
  const RegionPlace place = area_.RegionOf(claim.slot);
  auto region = RegionFile::PartOf(place.fd, place.offset, place.bytes);
  if (!region) {  // no descriptor: nothing can be read of it now
    unresolved_.push_back(claim);
    return;
  }
  auto image = std::make_unique<Image>(std::move(*region), pid, std::string(), OriginOf(claim));
  if (lives) {
    if (process->image != nullptr) EndImage(*process, EndKind::kExec, 0);
    if (process->executed == 0) ++outcome_.processes;
    runs_[claim.image] = image->program();
    process->image = std::move(image);
    process->id = claim.image;
    process->slot = claim.slot;
    process->may_claim = false;
    return;
  }
  Process gone;
  gone.pid = scanned && claim.pid == kUnknownPid ? 0 : pid;
  gone.suffix = gone.pid == 0 ? fmt::format(".fork{}", claim.slot) : fmt::format(".{}", gone.pid);
  gone.image = std::move(image);
  gone.slot = claim.slot;
  runs_[claim.image] = gone.image->program();
  gone.id = 0;
  if (executed && process != nullptr && process->image == nullptr) {
    gone.executed = process->executed++;
  } else if (executed) {
    executed = false;
  }
  ++outcome_.processes;
  if (executed) {
    EndImage(gone, EndKind::kExec, 0);
  } else {
    EndImageWith(process != nullptr ? WaitStatusOf(pid) : std::nullopt, gone);
  }
}

// How the process ended: its wait status, if that is known.
void ProcessTree::EndImageWith(const std::optional<int>& status, Process& process) {
  if (!status) {
    EndImage(process, EndKind::kEnded, 0);
  } else if (WIFSIGNALED(*status)) {
    EndImage(process, EndKind::kSignal, static_cast<uint32_t>(WTERMSIG(*status)));
  } else {
    EndImage(process, EndKind::kExit, static_cast<uint32_t>(WEXITSTATUS(*status)));
  }
}

// By an exec an image gets a number in its captures' names; its process lives on.
void ProcessTree::EndImage(Process& process, EndKind end, uint32_t code) {
  if (process.image == nullptr) return;
  std::function<void()> read = [] {};
  // Who lives on without us goes on counting there.
  if (process.slot && end != EndKind::kRunning) {
    read = [this, slot = *process.slot] { area_.Free(slot); };
  }
  process.slot.reset();
  if (!process.image->Attached()) {  // its tracker gave up waiting for us
    process.image.reset();
    read();
    return;
  }
  std::string suffix = process.suffix;
  if (end == EndKind::kExec) suffix += fmt::format(".exec{}", ++process.executed);
  SnapshotProgram program = process.image->Describe(end, code);
  captures_.Add(std::move(process.image), std::move(program), std::move(suffix), std::move(read));
  if (process.id != 0) runs_.erase(process.id);
  process.id = 0;
}

void ProcessTree::EndProcess(std::map<pid_t, Process>::iterator known) {
  EndImageWith(WaitStatusOf(known->second.pid), known->second);
  Unwatch(known);
}

void ProcessTree::Unwatch(std::map<pid_t, Process>::iterator known) {
  if (const int pidfd = known->second.pidfd; pidfd >= 0) {
    // The process that we were forked from may have it open still, and then it would stay there.
    epoll_ctl(epoll_, EPOLL_CTL_DEL, pidfd, nullptr);
    close(pidfd);
  }
  processes_.erase(known);
}

void ProcessTree::Look() {
  if (stopped_) return;
  const auto now = steady_clock::now();
  next_look_ = now + kLookTick;
  TakeClaims();
  epoll_event ended[64];
  for (;;) {
    const int n = epoll_wait(epoll_, ended, std::size(ended), 0);
    for (int i = 0; i < n; ++i) {
      const auto process = processes_.find(ended[i].data.fd);
      if (process != processes_.end()) EndProcess(process);
    }
    if (n < static_cast<int>(std::size(ended))) break;
  }
  for (auto& [pid, process] : processes_) {
    if (process.image != nullptr) process.image->LookAtHistory();
  }
  if (now >= next_search_) {
    next_search_ = now + kSampleTick;
    std::vector<pid_t> parents = {program_};
    for (const auto& [pid, process] : processes_) parents.push_back(pid);
    untracked_.Look(std::move(parents), options_.filter, [this](pid_t pid) {
      const auto known = processes_.find(pid);
      return (known != processes_.end() && IsLiving(known->second)) || area_.IsMappedBy(pid);
    });
  }
  if (options_.checkpoint.count() != 0) WriteCheckpoints();
  if (now < next_sample_) return;
  next_sample_ = now + kSampleTick;
  for (auto process = processes_.begin(); process != processes_.end();) {
    const auto next = std::next(process);
    if (process->second.image != nullptr) process->second.image->Sample();
    const bool watched = process->second.pidfd >= 0;
    if (!watched && kill(process->first, 0) != 0 && errno == ESRCH) EndProcess(process);
    process = next;
  }
}

// Of the heaviest that live, as many as may have files; some at each look, so that a tracker that
// connects meanwhile doesn't wait.
void ProcessTree::WriteCheckpoints() {
  if (steady_clock::now() >= next_checkpoint_ && to_checkpoint_.empty()) {
    next_checkpoint_ = steady_clock::now() + options_.checkpoint;
    std::vector<std::pair<uint64_t, pid_t>> heaviest;
    for (const auto& [pid, process] : processes_) {
      if (process.image != nullptr) heaviest.emplace_back(process.image->peak_bytes(), pid);
    }
    std::sort(heaviest.begin(), heaviest.end());
    const size_t first = heaviest.size() - std::min(heaviest.size(), options_.captures.max_files);
    for (size_t i = first; i < heaviest.size(); ++i) to_checkpoint_.push_back(heaviest[i].second);
  }
  for (size_t i = 0; i < kCheckpointsALook && !to_checkpoint_.empty() && captures_.IsIdle(); ++i) {
    const auto known = processes_.find(to_checkpoint_.back());
    to_checkpoint_.pop_back();
    if (known == processes_.end() || known->second.image == nullptr) continue;
    Image& image = *known->second.image;
    if (!image.Attached() || HasEnded(known->second)) continue;
    SnapshotProgram program = image.Describe(EndKind::kRunning, 0);
    captures_.Checkpoint(image.region(), std::move(program), image.History(EndKind::kRunning),
                         known->second.suffix);
  }
}

bool ProcessTree::IsLiving(const Process& process) const {
  return process.image != nullptr || process.may_claim;
}

bool ProcessTree::AnyLiving() {
  if (stopped_) return false;
  Look();  // who has ended since isn't to be counted
  if (HasLiving()) return true;
  LookForUnclaimed();
  Look();  // who claimed meanwhile may be gone again, with a region to be read
  return HasLiving();
}

bool ProcessTree::HasLiving() const { return CountLiving() != 0; }

uint64_t ProcessTree::CountLiving() const {
  return static_cast<uint64_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [this](const auto& process) { return IsLiving(process.second); }));
}

// Who was forked by a followed process and has not allocated yet.
void ProcessTree::LookForUnclaimed() {
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    // We map regions in it ourselves, as we read them.
    if (pid <= 0 || pid == getpid() || processes_.contains(pid)) continue;
    // Cheaper to ask for than mappings, and most processes of a machine are older.
    if (StartTicksOf(pid).value_or(program_started_) < program_started_) continue;
    if (!area_.IsMappedBy(pid)) continue;
    if (Process* process = Watch(pid)) process->may_claim = true;
  }
  closedir(directory);
}

// Claims of whom nobody may be asked about: read as they are; their slots stay theirs.
void ProcessTree::TakeUnresolved() {
  for (const auto& claim : unresolved_) {
    const RegionPlace place = area_.RegionOf(claim.slot);
    auto region = RegionFile::PartOf(place.fd, place.offset, place.bytes);
    if (!region) {  // what is queued holds descriptors
      captures_.Settle();
      region = RegionFile::PartOf(place.fd, place.offset, place.bytes);
    }
    if (!region) continue;
    Process process;
    process.suffix = fmt::format(".fork{}", claim.slot);
    process.image = std::make_unique<Image>(std::move(*region), 0, std::string(), OriginOf(claim));
    ++outcome_.processes;
    EndImage(process, EndKind::kEnded, 0);
  }
  unresolved_.clear();
}

void ProcessTree::Settle() {
  if (!HasLiving()) TakeUnresolved();
  captures_.Settle();
  for (auto& [pid, process] : processes_) {
    if (process.image != nullptr) process.image->Settle();
  }
}

void ProcessTree::StopWatching() {
  TakeClaims();
  stopped_ = true;
  while (!processes_.empty()) {
    EndImage(processes_.begin()->second, EndKind::kRunning, 0);
    Unwatch(processes_.begin());
  }
}

TreeOutcome ProcessTree::Conclude(const Snapshot* program,
                                  const std::vector<std::string>& program_images) {
  outcome_.refused = area_.refused();
  outcome_.untracked = untracked_.programs();
  outcome_.living = CountLiving();
  outcome_.files = captures_.files();
  outcome_.images = captures_.images();
  if (captures_.images() != captures_.without_capture() && outcome_.living == 0) {
    auto merge = captures_.WriteMerge(program, program_images);
    if (merge) {
      outcome_.merge = std::move(*merge);
    } else {
      outcome_.merge_error = merge.error().message;
    }
  }
  return outcome_;
}

}  // namespace memprof
