#include "cli/supervisor/tree/process_tree.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "cli/basics/message.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/preflight/inner_jemalloc_cache.h"
#include "cli/preflight/started_program.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/tree/slot_owners.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookTick{100};
constexpr milliseconds kBusyTick{10};  // while children come
constexpr milliseconds kSampleTick{1000};
constexpr milliseconds kTrackerComes{1000};  // after an exec, or never
constexpr milliseconds kFirstEventComes{100};
constexpr milliseconds kSearchTick{800};   // who is seen twice within two seconds is named
constexpr uint64_t kDescendantScale = 16;  // of its history's first intervals
constexpr size_t kCheckpointsALook = 4;
constexpr size_t kScaledAlone = 16;  // as many descendants; of more all begin coarser
constexpr int kSearchShare = 20;     // a search for owners takes at most that part of the time, but
constexpr size_t kMostUnresolved = 256;  // … when so many slots wait for it
constexpr size_t kMostAreas = 64;        // of users
constexpr int kLooksWhileLoading = 3;
constexpr size_t kDeepestTree = 64;  // processes below one another that are looked at

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

ProcessTree::ProcessTree(ProcessTreeOptions options, pid_t program, InnerJemallocCache& jemallocs,
                         ChildrenAreaFile area, int epoll)
    : options_(std::move(options)),
      program_(program),
      program_started_(StartTicksOf(program).value_or(0)),
      program_pidfd_(OpenPidfd(program)),
      epoll_(epoll),
      captures_(options_.captures),
      jemallocs_(jemallocs),
      next_look_(steady_clock::now() + kLookTick),
      next_sample_(next_look_ + kSampleTick),
      next_search_(next_look_),
      next_checkpoint_(steady_clock::now() + options_.checkpoint),
      next_owner_search_(steady_clock::now()) {
  areas_.emplace(geteuid(), std::move(area));
}

ProcessTree::~ProcessTree() {
  captures_.Settle();
  for (auto& [pid, process] : processes_) {
    if (process.pidfd >= 0) close(process.pidfd);
  }
  if (program_pidfd_ >= 0) close(program_pidfd_);
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

// nullptr: there is none for that user.
ChildrenAreaFile* ProcessTree::AreaOf(uid_t user) {
  const auto known = areas_.find(user);
  if (known != areas_.end()) return &known->second;
  if (areas_.size() >= kMostAreas) return nullptr;
  auto area = ChildrenAreaFile::Make();
  if (!area) {
    Say("warning: children of processes of user {} are not profiled: {}", user,
        area.error().message);
    return nullptr;
  }
  return &areas_.emplace(user, std::move(*area)).first->second;
}

TrackerSocket::ForChildren ProcessTree::ForChildrenOf(ImageId image, uid_t user) {
  const ChildrenAreaFile* area = AreaOf(user);
  if (area == nullptr) return {};
  return {area->fd(), area->bytes(), image};
}

ImageId ProcessTree::ProgramStarts(const SnapshotProgram& program) {
  runs_[{nullptr, ++next_image_}] = program;
  return next_image_;
}

bool ProcessTree::IsMappedBy(pid_t pid) const {
  return std::any_of(areas_.begin(), areas_.end(),
                     [pid](const auto& area) { return area.second.IsMappedBy(pid); });
}

// As long as that holds nobody else gets the pid.
bool ProcessTree::IsKnownToLive(pid_t pid) const {
  if (pid == program_ && program_pidfd_ >= 0) {
    pollfd ended = {program_pidfd_, POLLIN, 0};
    return poll(&ended, 1, 0) == 0;
  }
  const auto known = processes_.find(pid);
  return known != processes_.end() && known->second.pidfd >= 0 && !HasEnded(known->second);
}

// A parent's pid may be another process' by the time that its own parent is asked for. But who
// loses its parent gets another one for good: where all are the same when asked again, all were
// what they seemed in between.
bool ProcessTree::IsDescendant(pid_t pid) const {
  std::vector<pid_t> chain = {pid};
  while (!IsKnownToLive(chain.back())) {
    const auto state = StateOf(chain.back());
    if (!state || state->parent <= 1 || chain.size() >= kDeepestTree) return false;
    chain.push_back(state->parent);
    if (state->parent == getpid()) break;  // adopted, or the program itself
  }
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    const auto state = StateOf(chain[i]);
    if (!state || state->parent != chain[i + 1]) return false;
  }
  return chain.back() == getpid() || IsKnownToLive(chain.back());
}

// What the images of all descendants have in common.
ImageOrigin ProcessTree::NewOrigin() const {
  ImageOrigin origin;
  origin.history_scale = kDescendantScale;
  for (size_t n = processes_.size(); n > kScaledAlone; n /= 2) origin.history_scale *= 2;
  origin.command_line = options_.command_line;
  return origin;
}

// The origin of a forked child's image.
ImageOrigin ProcessTree::OriginOf(const AreaClaim& found) const {
  const ChildrenAreaFile::Claim& claim = found.claim;
  const auto parent = runs_.find({IsOfSlot(claim.parent) ? found.area : nullptr, claim.parent});
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
  auto region = RegionFile::InMemory(visitor.most_region_bytes);
  TrackerOptions tracker = options_.tracker;
  const InnerAllocators allocators = jemallocs_.Of(visitor.pid);
  tracker.jemalloc = allocators.jemalloc;
  if (!region || !region->SetOptions(tracker)) {
    Say(region ? "the tracker's options could not be written" : region.error().message);
    socket.SendAway(visitor);
    AddUntracked(visitor.pid, StartedProgramOf(visitor.pid).name);
    return;
  }
  const ImageId id = ++next_image_;
  const int fd = region->fd();
  const uint64_t bytes = region->bytes();
  auto image = std::make_unique<Image>(std::move(*region), visitor.pid, std::string(), NewOrigin());
  image->AddUnseenAllocator(allocators.unseen);
  // What the process was before it executed this may not have been seen yet. While it waits for its
  // answer it can't end.
  TakeClaims();
  if (!socket.Admit(visitor, fd, bytes, ForChildrenOf(id, visitor.user))) {
    AddUntracked(visitor.pid, image->name());
    return;
  }
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
  process->untracked.clear();
  process->id = {nullptr, id};
  runs_[process->id] = image->program();
  process->image = std::move(image);
}

void ProcessTree::TakeClaims() {
  std::vector<AreaClaim> claims;
  for (auto& [user, area] : areas_) {
    for (const auto& claim : area.NewClaims()) claims.push_back({&area, claim});
  }
  if (!claims.empty()) next_look_ = steady_clock::now() + kBusyTick;
  std::sort(claims.begin(), claims.end(),
            [](const auto& a, const auto& b) { return a.claim.start < b.claim.start; });
  for (const AreaClaim& found : claims) {
    if (found.claim.foreign_pids || found.claim.pid == kUnknownPid) {
      unresolved_.push_back(found);
    } else {
      TakeByPid(found);
    }
  }
  if (unresolved_.empty()) return;
  if (steady_clock::now() >= next_owner_search_ || unresolved_.size() >= kMostUnresolved) {
    TakeSearched();
  }
}

// The pid is ours: the process can be asked.
void ProcessTree::TakeByPid(const AreaClaim& found) {
  using Owns = ChildrenAreaFile::Owns;
  const auto pid = static_cast<pid_t>(found.claim.pid);
  // Neither the program nor we have a slot: who claims one for them would have them waited for
  // here.
  Process* const process = pid == program_ || pid == getpid() ? nullptr : Watch(pid);
  // The pidfd was opened before: who has the slot now is the process that is watched.
  Owns owns = process != nullptr ? found.area->Has(pid, found.claim.slot) : Owns::kNo;
  if (owns == Owns::kUnknown && HasEnded(*process)) owns = Owns::kNo;
  if (owns == Owns::kUnknown) {
    const auto state = StateOf(pid);
    // Whether it can be a descendant isn't known, or it is one that has a slot already.
    if (!state || process->slot) {
      unresolved_.push_back(found);
      return;
    }
    // Nobody waits for the end of a process that a hostile one has named: the kernel's, or one that
    // is older than the program.
    if (state->of_kernel || state->start_ticks < program_started_) owns = Owns::kNo;
  }
  const bool executed = owns == Owns::kNo && process != nullptr && !HasEnded(*process);
  if (executed && !MayHaveClaimed(pid, *found.area)) {
    const auto known = processes_.find(pid);
    if (known->second.image == nullptr && !known->second.may_claim) Unwatch(known);
    TakeOf(found, nullptr, false, false);
    return;
  }
  TakeOf(found, process, owns != Owns::kNo, executed);
}

// Anybody who has the area can name any process in a claim. One that has no slot of it is believed
// to have had one only if it is a descendant, or could be an orphan of one: younger than the
// program, and a process of the user whose area it is.
bool ProcessTree::MayHaveClaimed(pid_t pid, const ChildrenAreaFile& area) const {
  if (IsDescendant(pid)) return true;
  if (StartTicksOf(pid).value_or(0) < program_started_) return false;
  const auto user = UserOf(pid);
  return user && std::any_of(areas_.begin(), areas_.end(), [&](const auto& known) {
           return known.first == *user && &known.second == &area;
         });
}

// Takes the claims whose process only a search could tell.
void ProcessTree::TakeSearched() {
  using Owns = ChildrenAreaFile::Owns;
  const auto began = steady_clock::now();
  std::vector<SlotClaim> wanted;
  for (const AreaClaim& found : unresolved_) wanted.push_back({found.area, found.claim});
  const auto owners =
      FindSlotOwners(wanted, program_started_, [this](pid_t pid) { return IsDescendant(pid); });
  const std::vector<AreaClaim> claims = std::exchange(unresolved_, {});
  for (size_t i = 0; i < claims.size(); ++i) {
    if (owners[i].owns == Owns::kUnknown) {  // its slot stays its own
      unresolved_.push_back(claims[i]);
      continue;
    }
    Process* const process =
        owners[i].owns == Owns::kYes && owners[i].pid != program_ ? Watch(owners[i].pid) : nullptr;
    // As above; who may not be asked is the one that was found alone.
    const Owns owns =
        process != nullptr ? claims[i].area->Has(owners[i].pid, claims[i].claim.slot) : Owns::kNo;
    if (owns == Owns::kUnknown && process->slot && !HasEnded(*process)) {
      unresolved_.push_back(claims[i]);  // one of the two is another process's
      continue;
    }
    TakeOf(claims[i], process, owns != Owns::kNo, false);
  }
  const auto now = steady_clock::now();
  next_owner_search_ =
      now + std::max<steady_clock::duration>(kLookTick, (now - began) * kSearchShare);
}

// `process`: that of the claim, or that has its pid now; nullptr: it has ended. `has_slot`: it
// still counts there. `executed`: it lives and doesn't.
void ProcessTree::TakeOf(const AreaClaim& found, Process* process, bool has_slot, bool executed) {
  const ChildrenAreaFile::Claim& claim = found.claim;
  const RegionPlace place = found.area->RegionOf(claim.slot);
  auto region = RegionFile::PartOf(place);
  if (!region) {  // no descriptor: nothing can be read of it now
    unresolved_.push_back(found);
    return;
  }
  // A pid of another namespace names nobody here.
  const bool has_pid = claim.pid != kUnknownPid && !claim.foreign_pids;
  const pid_t pid = process != nullptr ? process->pid : has_pid ? static_cast<pid_t>(claim.pid) : 0;
  ImageOrigin origin = OriginOf(found);
  origin.is_there = has_slot;
  auto image = std::make_unique<Image>(std::move(*region), pid, std::string(), origin);
  const ImageKey id = {found.area, claim.image};
  runs_[id] = image->program();
  if (has_slot) {
    image->AddUnseenAllocator(jemallocs_.Of(pid).unseen);
    if (process->image != nullptr) EndImage(*process, EndKind::kExec, 0);
    if (process->executed == 0) ++outcome_.processes;
    process->image = std::move(image);
    process->id = id;
    process->area = found.area;
    process->slot = claim.slot;
    process->may_claim = false;
    return;
  }
  Process gone;
  gone.pid = pid;
  gone.suffix = pid == 0 ? fmt::format(".fork{}", claim.slot) : fmt::format(".{}", pid);
  gone.image = std::move(image);
  gone.area = found.area;
  gone.slot = claim.slot;
  if (executed && process->image == nullptr) {
    gone.executed = process->executed++;
  } else {
    executed = false;
  }
  ++outcome_.processes;
  if (executed) {
    if (const auto names = ProgramNamesOf(pid); process->untracked.empty() && !names.empty()) {
      process->untracked = names[0];
      process->executed_at = steady_clock::now();
    }
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

// One whose tracker came, and got no answer in time. It may be gone already.
void ProcessTree::AddUntracked(pid_t pid, const std::string& name) {
  untracked_.Add(pid, name.empty() ? "[unknown]" : name, options_.filter);
}

// By an exec an image gets a number in its captures' names; its process lives on.
void ProcessTree::EndImage(Process& process, EndKind end, uint32_t code) {
  if (process.image == nullptr) return;
  std::function<void()> read = [] {};
  // Who lives on without us goes on counting there.
  if (process.slot && end != EndKind::kRunning) {
    read = [area = process.area, slot = *process.slot] { area->Free(slot); };
  }
  const bool is_of_socket = !process.slot;
  process.slot.reset();
  if (!process.image->Attached()) {  // its tracker gave up waiting for us
    if (is_of_socket) AddUntracked(process.pid, process.image->name());
    process.image.reset();
    read();
    return;
  }
  std::string suffix = process.suffix;
  if (end == EndKind::kExec) suffix += fmt::format(".exec{}", ++process.executed);
  SnapshotProgram program = process.image->Describe(end, code);
  captures_.Add(std::move(process.image), std::move(program), std::move(suffix), std::move(read));
  runs_.erase(process.id);
  process.id = {};
}

// Whether it ended as another program than its image, from which no tracker came.
bool ProcessTree::EndedAsAnother(const Process& process) {
  if (process.image == nullptr) return false;
  if (process.image->replaced()) return true;
  const auto state = StateOf(process.pid);
  if (!state || state->state != 'Z') return false;  // nobody knows any more
  if (process.slot) return state->executed;
  process.image->LookForLateExec();
  return process.image->replaced();
}

void ProcessTree::EndProcess(std::map<pid_t, Process>::iterator known) {
  if (known->second.untracked.empty() && EndedAsAnother(known->second)) {
    known->second.untracked = CommandNameOf(known->first);
  }
  // A tracker connects at a program's first event, which is nearly always one of its first.
  const bool had_no_time = known->second.image == nullptr &&
                           steady_clock::now() - known->second.executed_at < kFirstEventComes;
  if (!known->second.untracked.empty() && !had_no_time) {
    untracked_.Add(known->first, known->second.untracked, options_.filter);
    EndImage(known->second, EndKind::kExec, 0);
  }
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

void ProcessTree::LookAt(Process& process) {
  if (process.image == nullptr) return;
  if (!process.image->LookForExec()) {
    process.image->LookAtHistory();
    return;
  }
  // Its executable seems to be another one, and yet it counts where it did.
  if (process.slot &&
      process.area->Has(process.pid, *process.slot) == ChildrenAreaFile::Owns::kYes) {
    return;
  }
  const auto now = steady_clock::now();
  if (process.untracked.empty()) {
    const auto names = ProgramNamesOf(process.pid);
    if (names.empty()) return;
    process.untracked = names[0];
    process.executed_at = now;
  }
  if (now - process.executed_at >= kTrackerComes) EndImage(process, EndKind::kExec, 0);
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
  for (auto& [pid, process] : processes_) LookAt(process);
  if (now >= next_search_) {
    next_search_ = now + kSearchTick;
    std::vector<pid_t> parents = {program_};
    for (const auto& [pid, process] : processes_) parents.push_back(pid);
    untracked_.Look(std::move(parents), options_.filter, [this](pid_t pid) {
      const auto known = processes_.find(pid);
      return (known != processes_.end() && IsLiving(known->second)) || IsMappedBy(pid);
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

// Writes those of the heaviest that live, as many as may have files; some at each look, so that a
// tracker that connects meanwhile doesn't wait.
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
  if (!unresolved_.empty()) TakeSearched();
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

bool ProcessTree::HasComing() const {
  return std::any_of(processes_.begin(), processes_.end(), [this](const auto& process) {
    return process.second.may_come && !IsLiving(process.second);
  });
}

// By what it was started with, where memprof's socket is named. While a program is being loaded it
// has no environment yet.
bool ProcessTree::MayCome(pid_t pid) const {
  const auto state = StateOf(pid);
  if (!state || state->of_kernel || state->state == 'Z') return false;
  const std::string named = fmt::format("{}={}", kSocketVariable, options_.socket);
  for (int look = 0; look < kLooksWhileLoading; ++look) {
    const std::string environment = ProcText(pid, "environ");
    if (('\0' + environment).find('\0' + named + '\0') != std::string::npos) return true;
    if (!environment.empty()) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

// Who was forked by a followed process and has not allocated yet, and who has dropped that one's
// memory to execute something.
void ProcessTree::LookForUnclaimed() {
  if (stopped_) return;
  for (const pid_t pid : AllProcesses()) {
    // We map regions in it ourselves, as we read them.
    if (pid == getpid() || processes_.contains(pid)) continue;
    // Cheaper to ask for than mappings, and most processes of a machine are older.
    if (StartTicksOf(pid).value_or(program_started_) < program_started_) continue;
    const bool may_claim = IsMappedBy(pid);
    if (!may_claim && !MayCome(pid)) continue;
    Process* process = Watch(pid);
    if (process == nullptr) continue;
    process->may_claim = may_claim;
    process->may_come = !may_claim;
  }
}

// Claims of whom nobody may be asked about: read as they are; their slots stay theirs.
void ProcessTree::TakeUnresolved() {
  for (const AreaClaim& found : unresolved_) {
    const RegionPlace place = found.area->RegionOf(found.claim.slot);
    auto region = RegionFile::PartOf(place);
    if (!region) {  // what is queued holds descriptors
      captures_.Settle();
      region = RegionFile::PartOf(place);
    }
    if (!region) continue;
    Process process;
    process.suffix = fmt::format(".fork{}", found.claim.slot);
    process.image = std::make_unique<Image>(std::move(*region), 0, std::string(), OriginOf(found));
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

std::vector<Unseen> ProcessTree::UnseenSoFar() const {
  std::vector<Unseen> unseen;
  for (const auto& [name, count] : untracked_.programs()) {
    AddUnseen(unseen, {{Unseen::Kind::kProcesses, name, {}, static_cast<uint64_t>(count)}});
  }
  for (const auto& [user, area] : areas_) {
    const uint64_t refused = area.refused();
    if (refused != 0) AddUnseen(unseen, {{Unseen::Kind::kChildren, {}, {}, refused}});
  }
  return unseen;
}

TreeOutcome ProcessTree::Conclude(const Snapshot* program,
                                  const std::vector<std::string>& program_images) {
  outcome_.refused = 0;
  for (const auto& [user, area] : areas_) outcome_.refused += area.refused();
  outcome_.untracked = untracked_.programs();
  outcome_.living = CountLiving();
  outcome_.files = captures_.files();
  outcome_.images = captures_.images();
  if (captures_.images() != captures_.without_capture() && outcome_.living == 0) {
    auto merge = captures_.WriteMerge(program, program_images, UnseenSoFar());
    if (merge) {
      outcome_.merge = std::move(*merge);
    } else {
      outcome_.merge_error = merge.error().message;
    }
  }
  return outcome_;
}

}  // namespace memprof
