#include "aggregator/tables/segments.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/tables/peak_tracker.h"

namespace memprof {
namespace {

constexpr int kTries = 5;
constexpr int kRetakes = 3;
constexpr uint64_t kTurnNs = 100'000'000;
constexpr uint32_t kTurnTries = 2'000'000;  // used if no system call may be made: some 40 ns each

uint64_t Difference(int64_t a, int64_t b) { return static_cast<uint64_t>(a > b ? a - b : b - a); }

int64_t Larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Sums again, since an event in flight may account for the difference.
void TakeRows(EpochRows& rows, const Region& region, uint64_t epoch, int64_t expected,
              uint64_t slack) {
  rows.Take(region, epoch);
  for (int i = 0; i < kRetakes && !OneThread(); ++i) {
    if (Difference(rows.live_sum.bytes, expected) <= slack) break;
    rows.Take(region, epoch);
  }
}

}  // namespace

// --- turns ---------------------------------------------------------------------------------------

Segments::Turn::Turn(Segments& segments, const void* thread) : segments_(segments), mine_(false) {
  uint64_t deadline = 0;
  for (uint32_t i = 0; i < kTurnTries; ++i) {
    const void* nobody = nullptr;
    mine_ = segments.turn_.load(std::memory_order_relaxed) == nullptr &&
            segments.turn_.compare_exchange_strong(nobody, thread, std::memory_order_acquire);
    if (mine_) break;
    if (SystemCallsFiltered()) {
      __builtin_ia32_pause();
      continue;
    }
    // Each busy thread may need a slice of the processor's time before the next try.
    const uint64_t now = MonotonicNs();
    if (deadline == 0) deadline = now + kTurnNs;
    if (now >= deadline) break;
    kernel::Yield();
  }
}

Segments::Turn::~Turn() {
  if (mine_) segments_.turn_.store(nullptr, std::memory_order_release);
}

void Segments::Forget(const void* thread) {
  if (turn_.load(std::memory_order_relaxed) != thread) return;
  for (Scope& scope : scopes_) scope.inexact = true;
  turn_.store(nullptr, std::memory_order_release);
}

// --- marks ---------------------------------------------------------------------------------------

uint64_t Segments::SlackBound() const {
  const RegionHeader& header = region_.header();
  if (header.options.exact_peak != 0) return 0;
  return header.peak_slack_bound.load(std::memory_order_relaxed);
}

uint64_t Segments::KeptPeak() const {
  const RegionHeader& header = region_.header();
  const uint32_t generation = header.kept_generation.load(std::memory_order_acquire);
  return generation == 0 ? 0
                         : header.kept_peaks[generation % 2].peak.load(std::memory_order_relaxed);
}

// The first of equal peaks is the run's; the very first may be of 0 bytes.
bool Segments::IsHighest(uint64_t peak) const {
  return peak > KeptPeak() || region_.header().kept_generation.load(std::memory_order_relaxed) == 0;
}

bool Segments::IsWanted(uint64_t peak) const {
  if (IsHighest(peak)) return true;
  for (const Scope& scope : scopes_) {
    if (scope.used && !scope.ended && static_cast<int64_t>(peak) > scope.highest) return true;
  }
  return false;
}

// The first three steps of a mark.
bool Segments::EndSegment() {
  PeakTracker word(PeakPlaceOf(region_));
  if (!Counts()) return false;
  before_ = word.Load();
  for (int i = 0; i < kTries; ++i) {
    PeakState state = before_;
    if (IsWanted(state.peak)) {
      if (!Counts()) return false;
      word.Disarm(state);
      TakeRows(peak_, region_, state.epoch, static_cast<int64_t>(state.peak), SlackBound());
      Publish(state.peak);
    }
    if (!Counts()) return false;
    if (word.EndSegment(state, before_)) return true;
  }
  // Threads make maxima too fast. What was live at an armed maximum is what is live at the mark.
  if (!Counts()) return false;
  before_ = word.EndSegment();
  if (IsWanted(before_.peak)) {
    peak_.Take(region_, before_.armed ? NextEpoch(before_.epoch) : before_.epoch);
    Publish(before_.peak);
  }
  return true;
}

bool Segments::Mark() {
  if (!EndSegment()) return false;
  TakeRows(now_, region_, NextEpoch(before_.epoch), before_.current, SlackBound());
  Offer(before_.peak);
  return Counts();
}

// Publishes the rows in `peak_` as the run's, if they are the highest.
void Segments::Publish(uint64_t peak) {
  RegionHeader& header = region_.header();
  if (!IsHighest(peak)) return;
  const uint32_t generation = header.kept_generation.load(std::memory_order_relaxed) + 1;
  const uint32_t next = generation == 0 ? 2 : generation;  // 0 means that nothing is kept
  memprof::KeptPeak& kept = header.kept_peaks[next % 2];
  const uint32_t half = region_.capacity(Table::kPeakRows) / 2;
  PeakRow* rows = region_.Records<PeakRow>(Table::kPeakRows) + next % 2 * half;
  const uint32_t known = peak_.has_rows ? peak_.live.used() : 0;
  const uint32_t sites = known < half ? known : half;
  for (uint32_t i = 0; i < sites; ++i) {
    if (!Counts()) return;
    rows[i].bytes.store(peak_.live[i].bytes, std::memory_order_relaxed);
    rows[i].count.store(peak_.live[i].count, std::memory_order_relaxed);
  }
  if (!Counts()) return;
  kept.sites.store(sites, std::memory_order_relaxed);
  kept.peak.store(peak, std::memory_order_relaxed);
  kept.bound_bytes.store(peak_.has_rows ? peak_.raced_bytes : peak, std::memory_order_relaxed);
  if (!Counts()) return;
  header.kept_generation.store(next, std::memory_order_release);
}

void Segments::Offer(uint64_t peak) {
  for (Scope& scope : scopes_) {
    if (!scope.used || scope.ended || static_cast<int64_t>(peak) <= scope.highest) continue;
    scope.highest = static_cast<int64_t>(peak);
    // Memory that threads had held back may be freed by now, which hides that this is less than
    // there was.
    if (peak_.live_sum.bytes < scope.base_sum.bytes) continue;
    scope.peak_sum = peak_.live_sum;
    scope.peak_raced_bytes = peak_.raced_bytes;
    scope.inexact |= !peak_.exact;
    scope.has_rows &= peak_.has_rows && scope.peak.CopyFrom(peak_.live);
  }
}

// --- scopes --------------------------------------------------------------------------------------

Segments::Scope* Segments::Find(ScopeId id) {
  Scope& scope = scopes_[id % kMaxScopes];
  return scope.used && scope.generation == id / kMaxScopes ? &scope : nullptr;
}

bool Segments::BeganBy(const Scope& scope, const ThreadSlot* slot) {
  return slot != nullptr && slot == scope.slot &&
         slot->taken.load(std::memory_order_relaxed) == scope.slot_taken;
}

// Adds the thread's own peak so far to all scopes that watch it. Pre: called by the slot's owner.
void Segments::FoldWatched(ThreadSlot& slot) {
  for (Scope& scope : scopes_) {
    if (scope.used && !scope.ended && scope.watch && BeganBy(scope, &slot)) {
      scope.watched_highest = Larger(scope.watched_highest, slot.watched_peak);
    }
  }
  slot.watched_peak = slot.watched_live.load(std::memory_order_relaxed);
}

ScopeId Segments::Begin(const ScopeCaller& caller, bool watch) {
  Scope* scope = nullptr;
  for (Scope& candidate : scopes_) {
    if (!candidate.used) {
      scope = &candidate;
      break;
    }
  }
  if (scope == nullptr || !Mark()) return 0;
  ++scope->generation;
  scope->ended = false;
  scope->watch = watch && caller.slot != nullptr;
  scope->inexact = !now_.exact;
  scope->was_stopped = caller.stopped;
  scope->start = before_.current;
  scope->highest = before_.current;
  scope->raced_bytes = now_.raced_bytes;
  scope->peak_raced_bytes = 0;
  scope->shared_at_start = region_.header().shared_bytes.load(std::memory_order_relaxed);
  scope->base_sum = scope->peak_sum = now_.live_sum;
  scope->base_totals_sum = now_.totals_sum;
  scope->has_rows = now_.has_rows && scope->base.CopyFrom(now_.live) &&
                    scope->peak.CopyFrom(now_.live) && scope->base_totals.CopyFrom(now_.totals);
  scope->slot = caller.slot;
  if (caller.slot != nullptr) {
    scope->slot_taken = caller.slot->taken.load(std::memory_order_relaxed);
  }
  scope->thread_allocated = caller.allocated;
  scope->used = true;
  if (scope->watch) {
    FoldWatched(*caller.slot);
    scope->watched_start = scope->watched_highest = caller.slot->watched_peak;
  }
  return ScopeId{scope->generation} * kMaxScopes + static_cast<ScopeId>(scope - scopes_);
}

ScopeFigures Segments::FiguresOf(const Scope& scope, const ScopeCaller& caller) const {
  ScopeFigures figures;
  figures.start_bytes = scope.base_sum.bytes;
  figures.now_bytes = now_.live_sum.bytes;
  figures.peak_bytes = scope.peak_sum.bytes;
  figures.growth = now_.live_sum - scope.base_sum;
  figures.allocated = now_.totals_sum - scope.base_totals_sum;
  figures.has_rows = scope.has_rows && now_.has_rows;
  for (uint32_t i = 0; i < now_.live.used() && figures.has_rows; ++i) {
    const SiteRow grown = now_.live[i] - scope.base[i];
    if (grown.bytes < 0 || (grown.bytes == 0 && grown.count <= 0)) continue;
    figures.leaked += {grown.bytes, Larger(grown.count, 0)};
  }
  figures.thread_known = BeganBy(scope, caller.slot);
  if (figures.thread_known) figures.thread_allocated = caller.allocated - scope.thread_allocated;
  figures.thread_watched = figures.thread_known && scope.watch;
  if (figures.thread_watched) {
    figures.thread_peak_growth = scope.watched_highest - scope.watched_start;
    figures.thread_growth =
        caller.slot->watched_live.load(std::memory_order_relaxed) - scope.watched_start;
  }
  const uint64_t slack = SlackBound();
  const uint64_t differs =
      Difference(scope.peak_sum.bytes - scope.base_sum.bytes, scope.highest - scope.start) +
      Difference(now_.live_sum.bytes - scope.base_sum.bytes, before_.current - scope.start);
  const uint64_t shared =
      region_.header().shared_bytes.load(std::memory_order_relaxed) - scope.shared_at_start;
  const uint64_t raced = scope.raced_bytes + scope.peak_raced_bytes + now_.raced_bytes;
  // According to the word the peak may have been at another moment than the real one. The
  // difference is what was held back at the two moments.
  figures.bound_bytes = 2 * slack + differs + shared + raced;
  figures.inexact = scope.inexact || !now_.exact || shared != 0 || differs > 2 * slack;
  figures.was_stopped = scope.was_stopped || caller.stopped;
  return figures;
}

bool Segments::Read(ScopeId id, const ScopeCaller& caller, bool end, ScopeFigures* figures) {
  Scope* scope = Find(id);
  if (scope == nullptr) return false;
  if (!scope->ended) {
    if (!Mark()) return false;
    if (now_.live_sum.bytes > scope->peak_sum.bytes) {
      scope->peak_sum = now_.live_sum;
      scope->peak_raced_bytes = now_.raced_bytes;
      scope->inexact |= !now_.exact;
      scope->has_rows &= now_.has_rows && scope->peak.CopyFrom(now_.live);
    }
    if (caller.slot != nullptr) FoldWatched(*caller.slot);
    *figures = FiguresOf(*scope, caller);
    if (!end) return true;
    scope->has_rows = figures->has_rows && scope->end.CopyFrom(now_.live) &&
                      scope->end_totals.CopyFrom(now_.totals);
    scope->ended = true;
    scope->figures = *figures;
    scope->figures.ended = true;
  }
  *figures = scope->figures;
  return true;
}

uint32_t Segments::Sites(ScopeId id) const {
  const Scope* scope = Find(id);
  return scope != nullptr && scope->ended && scope->has_rows ? scope->end.used() : 0;
}

SiteRow Segments::Row(ScopeId id, ScopeOrder order, uint32_t site) const {
  const Scope& scope = *Find(id);
  switch (order) {
    case ScopeOrder::kPeak:
      return scope.peak[site] - scope.base[site];
    case ScopeOrder::kLeaked: {
      const SiteRow grown = scope.end[site] - scope.base[site];
      if (grown.bytes < 0 || (grown.bytes == 0 && grown.count <= 0)) return {};
      return {grown.bytes, Larger(grown.count, 0)};
    }
    case ScopeOrder::kGrowth:
      return scope.end[site] - scope.base[site];
    case ScopeOrder::kAllocated:
      break;
  }
  return scope.end_totals[site] - scope.base_totals[site];
}

bool Segments::Release(ScopeId id) {
  Scope* scope = Find(id);
  if (scope == nullptr) return false;
  scope->used = false;
  return scope->watch;
}

void Segments::ReleaseLater(ScopeId id) {
  released_later_[id % kMaxScopes].store(id, std::memory_order_release);
}

uint32_t Segments::ReleaseLeft() {
  uint32_t watched = 0;
  for (auto& later : released_later_) {
    if (later.load(std::memory_order_relaxed) == 0) continue;
    watched += Release(later.exchange(0, std::memory_order_acquire));
  }
  return watched;
}

void Segments::Restart() {
  turn_.store(nullptr, std::memory_order_relaxed);
  for (Scope& scope : scopes_) scope.used = false;
  for (auto& later : released_later_) later.store(0, std::memory_order_relaxed);
}

void Segments::NoteStopped() {
  for (Scope& scope : scopes_) scope.was_stopped = true;
}

// --- named moments -----------------------------------------------------------------------------

// Takes rows with room to grow, or exactly as many as needed. Rows are never given back, so a name
// whose moments grow by one site each time must not take new rows each time. Nobody else takes any:
// marks are made one at a time.
uint32_t Segments::TakeNamedMomentRows(uint32_t rows, uint32_t& room) {
  const uint32_t left =
      region_.capacity(Table::kNamedMomentRows) - region_.count(Table::kNamedMomentRows);
  if (rows > left) return kNoRecord;
  const uint32_t wanted = std::bit_ceil(rows);
  room = wanted <= left ? wanted : rows;
  return region_.Take(Table::kNamedMomentRows, room);
}

bool Segments::KeepNamedMoment(const char* name, uint64_t time_ns) {
  auto* const records = region_.Records<NamedMomentRecord>(Table::kNamedMoments);
  constexpr size_t kLongest = sizeof records->name - 1;
  const size_t bytes = strnlen(name, kLongest);
  if (bytes == 0) return false;
  const uint32_t kept = region_.count(Table::kNamedMoments);
  uint32_t index = 0;
  while (index < kept &&
         (strncmp(records[index].name, name, bytes) != 0 || records[index].name[bytes] != 0)) {
    ++index;
  }
  if (index == region_.capacity(Table::kNamedMoments)) return false;
  if (!Mark()) return false;
  uint32_t rows = 0;
  for (uint32_t site = 0; site < now_.live.used(); ++site) rows += now_.live[site] != SiteRow{};
  NamedMomentRecord& record = records[index];
  uint32_t first = record.first_row.load(std::memory_order_relaxed);
  uint32_t room = record.row_room;
  if (!Counts()) return false;
  if (room < rows) {
    first = TakeNamedMomentRows(rows, room);
    if (first == kNoRecord) return false;
  }
  if (index == kept && region_.Take(Table::kNamedMoments) != index) return false;
  // It is odd already if a signal handler left this in the middle.
  const uint32_t odd = record.sequence.load(std::memory_order_relaxed) | 1;
  if (!Counts()) return false;
  record.sequence.exchange(odd, std::memory_order_acq_rel);
  if (index == kept) memcpy(record.name, name, bytes);
  // The room is stored last: a signal handler may leave this, and it must never exceed first_row's.
  record.first_row.store(first, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record.row_room = room;
  auto* row = region_.Records<NamedMomentRow>(Table::kNamedMomentRows) + first;
  for (uint32_t site = 0; site < now_.live.used(); ++site) {
    const SiteRow live = now_.live[site];
    if (live == SiteRow{}) continue;
    const int64_t count = Larger(live.count, 0);
    const auto blocks = count > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(count);
    const auto bytes_live = static_cast<uint64_t>(Larger(live.bytes, 0));
    if (!Counts()) return false;
    __atomic_store_n(&row->site, site, __ATOMIC_RELEASE);
    __atomic_store_n(&row->count, blocks, __ATOMIC_RELEASE);
    __atomic_store_n(&row->bytes, bytes_live, __ATOMIC_RELEASE);
    ++row;
  }
  if (!Counts()) return false;
  record.rows.store(rows, std::memory_order_release);
  record.time_ns.store(time_ns, std::memory_order_release);
  const bool inexact =
      !now_.exact || Difference(now_.live_sum.bytes, before_.current) > SlackBound();
  record.inexact.store(inexact, std::memory_order_release);
  record.sequence.store(odd + 1, std::memory_order_release);
  return true;
}

}  // namespace memprof
