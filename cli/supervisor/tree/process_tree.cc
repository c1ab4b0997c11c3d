#include "cli/supervisor/tree/process_tree.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "cli/basics/descriptor_reserve.h"
#include "cli/basics/message.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/preflight/inner_jemalloc_cache.h"
#include "cli/preflight/started_program.h"
#include "cli/supervisor/images/checkpoint_writer.h"
#include "cli/supervisor/images/region_file.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookTick{100};
constexpr milliseconds kBusyLook{10};  // while children keep coming
constexpr milliseconds kSampleTick{1000};
constexpr milliseconds kTrackerComes{1000};  // how soon after an exec a tracker connects, or never
constexpr milliseconds kFirstEventComes{100};
// a process that is seen twice within two seconds is named
constexpr milliseconds kSearchTick{800};
constexpr uint64_t kDescendantScale = 16;  // factor for its history's first intervals
constexpr size_t kCheckpointsALook = 4;
constexpr size_t kScaledAlone = 16;  // if there are more descendants, all begin coarser
constexpr int kLooksWhileLoading = 3;

// True if it ended as another program than its image, from which no tracker came.
bool EndedAsAnother(const TreeMember& process) {
  if (process.image == nullptr) return false;
  if (process.image->replaced()) return true;
  const auto state = StateOf(process.pid);
  if (!state || state->state != 'Z') return false;  // it isn't known any more
  if (process.slot) return state->executed;
  process.image->LookForLateExec();
  return process.image->replaced();
}

void SendSignal(const TreeMember& process, int number) {
  if (process.pidfd) {
    // glibc 2.35 has no wrapper.
    syscall(SYS_pidfd_send_signal, process.pidfd.get(), number, nullptr, 0);
  } else {
    kill(process.pid, number);
  }
}

}  // namespace

ProcessTree::ProcessTree(ProcessTreeOptions options, InnerJemallocCache& jemallocs,
                         ChildrenAreas areas, TreeMembers members)
    : options_(std::move(options)),
      areas_(std::move(areas)),
      members_(std::move(members)),
      claims_(
          areas_, members_, [this](pid_t pid) { return Watch(pid); },
          [this](const SlotClaims::Resolved& resolved) { TakeClaim(resolved); }),
      captures_(options_.captures),
      jemallocs_(jemallocs),
      next_look_(steady_clock::now() + kLookTick),
      next_sample_(next_look_ + kSampleTick),
      next_search_(next_look_),
      next_checkpoint_(steady_clock::now() + FirstCheckpoint(options_.checkpoint)) {}

ProcessTree::~ProcessTree() { captures_.Settle(); }

Result<std::unique_ptr<ProcessTree>> ProcessTree::Make(ProcessTreeOptions options, pid_t program,
                                                       InnerJemallocCache& jemallocs) {
  auto areas = ChildrenAreas::Make();
  if (!areas) return tl::unexpected<Error>(areas.error());
  auto members = TreeMembers::Make(program);
  if (!members) return tl::unexpected<Error>(members.error());
  return std::unique_ptr<ProcessTree>(
      new ProcessTree(std::move(options), jemallocs, std::move(*areas), std::move(*members)));
}

bool ProcessTree::Wants(pid_t pid) {
  if (options_.filter.leaves_all()) return true;
  const auto names = ProgramNamesOf(pid);
  if (options_.filter.Takes(names)) return true;
  if (left_out_.emplace(pid, names.empty() ? std::string() : names[0]).second) ++outcome_.left_out;
  return false;
}

TrackerSocket::ForChildren ProcessTree::ForChildrenOf(ImageId image, uid_t user) {
  const ChildrenAreaFile* area = areas_.Of(user);
  if (area == nullptr) return {};
  return {area->fd(), area->bytes(), image};
}

ImageId ProcessTree::ProgramStarts(const SnapshotProgram& program) {
  runs_[{nullptr, ++next_image_}] = program;
  return next_image_;
}

void ProcessTree::Show(ShownRun& run) const {
  std::vector<const Image*> images;
  for (const auto& [pid, process] : members_.all()) {
    if (process.image != nullptr) images.push_back(process.image.get());
  }
  run.living += static_cast<uint32_t>(images.size());
  const size_t room = kMostShownProcesses - std::min(kMostShownProcesses, run.processes.size());
  const size_t shown = std::min(room, images.size());
  std::partial_sort(
      images.begin(), images.begin() + static_cast<std::ptrdiff_t>(shown), images.end(),
      [](const Image* a, const Image* b) { return a->peak_bytes() > b->peak_bytes(); });
  for (size_t i = 0; i < shown; ++i) run.processes.push_back(images[i]->Shown());
}

// The origin's part that is the same for all descendants' images.
ImageOrigin ProcessTree::NewOrigin() const {
  ImageOrigin origin;
  origin.history_scale = kDescendantScale;
  for (size_t n = members_.all().size(); n > kScaledAlone; n /= 2) origin.history_scale *= 2;
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

// Returns null if the process has ended.
TreeMember* ProcessTree::Watch(pid_t pid) {
  if (TreeMember* const known = members_.Find(pid)) {
    // It may have ended, and its pid may be another process's now. Its pidfd is readable then.
    if (!known->HasEnded()) return known;
    EndProcess(*known);
  }
  return members_.Watch(pid);
}

void ProcessTree::OnVisitor(TrackerSocket& socket, const TrackerSocket::Visitor& visitor) {
  if (!Wants(visitor.pid)) {
    TakeClaims();
    socket.SendAway(visitor);
    TreeMember* const known = members_.Find(visitor.pid);
    if (known != nullptr && !known->HasEnded()) EndImage(*known, EndKind::kExec, 0);
    return;
  }
  auto region = RegionFile::InMemory(visitor.most_region_bytes);
  TrackerOptions tracker = options_.tracker;
  const InnerAllocators allocators = jemallocs_.Of(visitor.pid);
  tracker.jemalloc = allocators.jemalloc;
  const bool too_many = IsInDescriptorReserve(region ? region->fd() : -1);
  if (!region || too_many || !region->SetOptions(tracker)) {
    SayWhyNot(!region    ? region.error().message
              : too_many ? "too many programs run at once for the limit on open files (ulimit -n)"
                         : "the tracker's options could not be written");
    AddUntracked(visitor.pid, StartedProgramOf(visitor.pid).name);  // it still waits for its answer
    socket.SendAway(visitor);
    return;
  }
  const ImageId id = ++next_image_;
  const int fd = region->fd();
  const uint64_t bytes = region->bytes();
  auto image = std::make_unique<Image>(std::move(*region), visitor.pid, std::string(), NewOrigin());
  image->AddUnseenAllocator(allocators.unseen);
  // The process's state before this exec may not have been seen yet. While it waits for its answer
  // it can't end.
  TakeClaims();
  if (!socket.Admit(visitor, fd, bytes, ForChildrenOf(id, visitor.user))) {
    AddUntracked(visitor.pid, image->name());
    return;
  }
  TreeMember* process = Watch(visitor.pid);
  if (process == nullptr) {  // ended already: the region has all its figures
    TreeMember gone;
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

// A tree of thousands has the same reason each time.
void ProcessTree::SayWhyNot(const std::string& why) {
  if (said_.insert(why).second) Say(why);
}

void ProcessTree::TakeClaims() {
  const auto now = steady_clock::now();
  if (claims_.Look()) next_look_ = now + kBusyLook;
}

void ProcessTree::TakeClaim(const SlotClaims::Resolved& resolved) {
  const AreaClaim& found = resolved.claim;
  const ChildrenAreaFile::Claim& claim = found.claim;
  TreeMember* const process = resolved.process;
  // A pid of another namespace means nothing here.
  const bool has_pid = claim.pid != kUnknownPid && !claim.foreign_pids;
  const pid_t pid = process != nullptr ? process->pid : has_pid ? static_cast<pid_t>(claim.pid) : 0;
  ImageOrigin origin = OriginOf(found);
  origin.is_there = resolved.has_slot;
  auto image = std::make_unique<Image>(RegionFile::PartOf(found.area->RegionOf(claim.slot)), pid,
                                       std::string(), origin);
  const ImageKey id = {found.area, claim.image};
  runs_[id] = image->program();
  if (resolved.has_slot) {
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
  TreeMember gone;
  gone.pid = pid;
  gone.suffix = pid == 0 ? fmt::format(".fork{}", claim.slot) : fmt::format(".{}", pid);
  gone.image = std::move(image);
  gone.area = found.area;
  gone.slot = claim.slot;
  ++outcome_.processes;
  if (resolved.executed && process->image == nullptr) {
    gone.executed = process->executed++;
    if (const auto names = ProgramNamesOf(pid); process->untracked.empty() && !names.empty()) {
      process->untracked = names[0];
      process->executed_at = steady_clock::now();
    }
    EndImage(gone, EndKind::kExec, 0);
  } else {
    EndImageWith(process != nullptr ? WaitStatusOf(pid) : std::nullopt, gone);
  }
}

// `status` is the process's wait status, if it is known.
void ProcessTree::EndImageWith(const std::optional<int>& status, TreeMember& process) {
  if (!status) {
    EndImage(process, EndKind::kEnded, 0);
  } else if (WIFSIGNALED(*status)) {
    EndImage(process, EndKind::kSignal, static_cast<uint32_t>(WTERMSIG(*status)));
  } else {
    EndImage(process, EndKind::kExit, static_cast<uint32_t>(WEXITSTATUS(*status)));
  }
}

// A process whose tracker came, and got no answer in time. It may have ended already.
void ProcessTree::AddUntracked(pid_t pid, const std::string& name) {
  untracked_.Add(pid, name.empty() ? "[unknown]" : name, options_.filter);
}

// After an exec the image's captures get a number in their names; its process lives on.
void ProcessTree::EndImage(TreeMember& process, EndKind end, uint32_t code) {
  if (process.image == nullptr) return;
  std::function<void()> read = [] {};
  // A process that lives on without us goes on counting there.
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
  ForgetLater(process.id);
  process.id = {};
}

// A child that the process has forked may not have been seen yet.
void ProcessTree::ForgetLater(const ImageKey& id) {
  constexpr size_t kKept = 4096;
  ended_runs_.push_back(id);
  for (; ended_runs_.size() > kKept; ended_runs_.pop_front()) runs_.erase(ended_runs_.front());
}

// Reads the ended process's image, and stops watching the process.
void ProcessTree::EndProcess(TreeMember& process) {
  if (process.untracked.empty() && EndedAsAnother(process)) {
    process.untracked = CommandNameOf(process.pid);
  }
  // A tracker connects at a program's first event, which nearly always comes soon after its start.
  const bool had_no_time =
      process.image == nullptr && steady_clock::now() - process.executed_at < kFirstEventComes;
  if (!process.untracked.empty() && !had_no_time) {
    untracked_.Add(process.pid, process.untracked, options_.filter);
    EndImage(process, EndKind::kExec, 0);
  }
  EndImageWith(WaitStatusOf(process.pid), process);
  members_.Unwatch(process.pid);
}

void ProcessTree::LookAt(TreeMember& process) {
  if (process.image == nullptr) return;
  if (!process.image->LookForExec()) {
    process.image->LookAtHistory();
    return;
  }
  // Its executable seems to have changed, but it still counts in its old slot.
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
  members_.TakeEnded([this](TreeMember& process) { EndProcess(process); });
  for (auto& [pid, process] : members_.all()) LookAt(process);
  if (now >= next_search_) {
    next_search_ = now + kSearchTick;
    LookForUntracked();
  }
  if (options_.checkpoint.count() != 0) WriteCheckpoints();
  if (now < next_sample_) return;
  next_sample_ = now + kSampleTick;
  Sample();
}

void ProcessTree::LookForUntracked() {
  std::vector<pid_t> parents = {members_.program()};
  for (const auto& [pid, process] : members_.all()) parents.push_back(pid);
  untracked_.Look(std::move(parents), options_.filter, [this](pid_t pid) {
    const TreeMember* const known = members_.Find(pid);
    return (known != nullptr && known->IsLiving()) || areas_.IsMappedBy(pid);
  });
}

void ProcessTree::Sample() {
  for (auto& [pid, process] : members_.all()) {
    if (process.image != nullptr) process.image->Sample();
  }
}

// Writes checkpoints of the heaviest living images, as many as may have files. Only some are
// written at each look, so that a connecting tracker doesn't wait.
void ProcessTree::WriteCheckpoints() {
  if (steady_clock::now() >= next_checkpoint_ && to_checkpoint_.empty()) {
    next_checkpoint_ = steady_clock::now() + options_.checkpoint;
    std::vector<std::pair<uint64_t, pid_t>> heaviest;
    for (const auto& [pid, process] : members_.all()) {
      if (process.image != nullptr) heaviest.emplace_back(process.image->peak_bytes(), pid);
    }
    std::sort(heaviest.begin(), heaviest.end());
    const size_t first = heaviest.size() - std::min(heaviest.size(), captures_.max_files());
    for (size_t i = first; i < heaviest.size(); ++i) to_checkpoint_.push_back(heaviest[i].second);
  }
  for (size_t i = 0; i < kCheckpointsALook && !to_checkpoint_.empty() && captures_.IsIdle(); ++i) {
    const TreeMember* const known = members_.Find(to_checkpoint_.back());
    to_checkpoint_.pop_back();
    if (known == nullptr || known->image == nullptr) continue;
    Image& image = *known->image;
    if (!image.Attached() || known->HasEnded()) continue;
    SnapshotProgram program = image.Describe(EndKind::kCut, 0);
    captures_.Checkpoint(image.region(), std::move(program), image.History(EndKind::kRunning),
                         known->suffix);
  }
}

bool ProcessTree::AnyLiving() {
  if (stopped_) return false;
  Look();  // processes that have ended since must not be counted
  if (HasLiving()) return true;
  claims_.Search();
  LookForUnclaimed();
  Look();  // processes that claimed a slot meanwhile may have ended, with a region to read
  return HasLiving();
}

bool ProcessTree::HasLiving() const { return CountLiving() != 0; }

uint64_t ProcessTree::CountLiving() const {
  return static_cast<uint64_t>(
      std::count_if(members_.all().begin(), members_.all().end(),
                    [](const auto& member) { return member.second.IsLiving(); }));
}

bool ProcessTree::HasComing() const {
  return std::any_of(members_.all().begin(), members_.all().end(), [](const auto& member) {
    return member.second.may_come && !member.second.IsLiving();
  });
}

// Decided by its initial environment, which names memprof's socket. A program that is being loaded
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

// Finds processes that were forked by a followed one and have not allocated yet, and processes that
// have dropped its memory to execute a program.
void ProcessTree::LookForUnclaimed() {
  if (stopped_) return;
  for (const pid_t pid : AllProcesses()) {
    // We map regions ourselves, to read them.
    if (pid == getpid() || members_.Find(pid) != nullptr) continue;
    // This is cheaper than reading mappings, and most processes of a machine are older.
    const uint64_t program_started = members_.program_started();
    if (StartTicksOf(pid).value_or(program_started) < program_started) continue;
    const bool may_claim = areas_.IsMappedBy(pid);
    if (!may_claim && !MayCome(pid)) continue;
    TreeMember* process = Watch(pid);
    if (process == nullptr) continue;
    process->may_claim = may_claim;
    process->may_come = !may_claim;
  }
}

// Claims of processes that may not be asked about: read as they are; their slots are not reused.
void ProcessTree::TakeUnresolved() {
  for (const AreaClaim& found : claims_.GiveUp()) {
    TreeMember process;
    process.suffix = fmt::format(".fork{}", found.claim.slot);
    process.image =
        std::make_unique<Image>(RegionFile::PartOf(found.area->RegionOf(found.claim.slot)), 0,
                                std::string(), OriginOf(found));
    ++outcome_.processes;
    EndImage(process, EndKind::kEnded, 0);
  }
}

void ProcessTree::Settle() {
  if (!HasLiving()) TakeUnresolved();
  captures_.Settle();
  for (auto& [pid, process] : members_.all()) {
    if (process.image != nullptr) process.image->Settle();
  }
}

void ProcessTree::SignalAll(int number) {
  Look();
  for (const auto& [pid, process] : members_.all()) {
    if (!process.HasEnded()) SendSignal(process, number);
  }
}

void ProcessTree::StopWatching() {
  TakeClaims();
  stopped_ = true;
  while (!members_.all().empty()) {
    TreeMember& process = members_.all().begin()->second;
    EndImage(process, EndKind::kRunning, 0);
    members_.Unwatch(process.pid);
  }
}

std::vector<Unseen> ProcessTree::UnseenSoFar() const {
  std::vector<Unseen> unseen;
  for (const auto& [name, count] : untracked_.programs()) {
    AddUnseen(unseen, {{Unseen::Kind::kProcesses, name, {}, static_cast<uint64_t>(count)}});
  }
  const uint64_t refused = areas_.refused();
  if (refused != 0) AddUnseen(unseen, {{Unseen::Kind::kChildren, {}, {}, refused}});
  return unseen;
}

TreeOutcome ProcessTree::Conclude(const Snapshot* program,
                                  const std::vector<std::string>& program_images) {
  outcome_.refused = areas_.refused();
  outcome_.untracked = untracked_.programs();
  outcome_.living = CountLiving();
  outcome_.images = captures_.images();
  const bool any = captures_.images() != captures_.without_capture() ||
                   (program != nullptr && !program_images.empty());
  if (any && outcome_.living == 0) {
    auto merge = captures_.WriteMerge(program, program_images, UnseenSoFar());
    if (merge) {
      outcome_.merge = std::move(*merge);
    } else {
      outcome_.merge_error = merge.error().message;
    }
  }
  // While some live, those that there are will not be left.
  if (outcome_.living == 0) outcome_.files = captures_.files();
  return outcome_;
}

}  // namespace memprof
