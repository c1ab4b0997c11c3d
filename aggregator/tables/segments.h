// Segments: the peaks of parts of the run, and the scopes that a program asks for.
//
// What you call, while you have a Turn: Begin opens a scope; Read gives its figures, and can end
// it; Sites and Row give the rows of an ended scope; Release forgets it. KeepNamedMoment keeps what
// is live now under a name.
//
//   heap  │        ╭╮ 90
//         │  ╭╮70 ╭╯│     ╭╮ 80
//         │ ╭╯╰╮ ╭╯ ╰╮   ╭╯╰╮
//         │╭╯  ╰─╯   ╰───╯  ╰──
//   marks ┊    ┊         ┊     ┊
//         begin A        ┊     end A      A: 90, of B's segment
//              begin B   end B            B: 90; the run: 90
//
// A mark ends a segment. The rows at the segment's peak are offered to the run
// (RegionHeader.kept_peaks) and to every open scope. Each keeps the highest that it was offered. So
// a scope has the highest peak of all segments within it, however scopes nest or overlap.
//
// A mark has these steps; one mark is made at a time:
//   1. If the word's maximum is now, it is disarmed: its rows are those of the word's epoch E, and
//      the cells keep them, whatever is allocated, until a higher maximum has come and gone.
//   2. The rows of E are summed, and published as the run's if they are the highest so far.
//   3. An exchange begins the next segment {peak = current, epoch E+1}. It fails if there was a new
//      maximum meanwhile: then it starts again from 1, at most kTries times. So what the word
//      forgets was summed.
//   4. The live figures at the mark are the rows of E+1, by the same rule.
//   5. The rows of E are given to the open scopes whose highest rows are lower.
// Steps 1 and 2 are left out if neither the run nor a scope would keep the rows. A mark adds no
// instruction to an event.
//
// Thread safety: any thread, in a tracker's scope that isn't nested (events/thread_scope.h): a
// signal handler that interrupts a mark is turned away. Threads that allocate never wait for a
// mark, nor a mark for them. Marks are made one at a time: a second one waits for the first, for
// 0.1 s at most; then it is not made. (The first may have been left by siglongjmp: Forget.)
//
// Exactness: figures are exact with one thread. With several they are exact if no thread made a new
// maximum and gave it up while the rows were summed, and none had an event in the word that was not
// yet in its cell. Otherwise, and if threads hold back bytes from the word, a scope has a bound:
// the rows that moved on, and the difference between the growth by rows and by the word. A scope's
// figures are those by rows; the word only tells the moment. If the word's peak turns out lower
// than the scope's begin, or than the current figure, it is no peak.
//
// Memory order: the word is read and changed by cmpxchg16b, a full barrier. A cell's event of epoch
// E or older was in the word before step 3 and so is summed in step 4, unless it is in flight. Kept
// rows are published by the release of kept_generation, which readers acquire before and after
// (core/region/region_reader); the valid half is never written to. A named moment's record has a
// sequence, odd while it is written.
// Memory: 80 bytes a site for each simultaneous scope, private, which only grows.
// Failure: no scope, or one without rows. If a signal handler that interrupts a mark forks, the
// child goes on with the mark. So every write to the region, which is the parent's, is preceded by
// a check.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/tables/epoch_rows.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

inline constexpr uint32_t kMaxScopes = 64;

// A scope's number, never 0, and never reused.
using ScopeId = uint64_t;

// The caller that asks for a scope. `slot` is the calling thread's, with its allocations and frees
// so far.
struct ScopeCaller {
  ThreadSlot* slot = nullptr;
  SiteRow allocated;
  bool stopped = false;  // counting is stopped now
};

struct ScopeFigures {
  int64_t start_bytes = 0;
  int64_t now_bytes = 0;
  int64_t peak_bytes = 0;
  SiteRow growth;
  SiteRow leaked;
  SiteRow allocated;
  SiteRow thread_allocated;
  int64_t thread_peak_growth = 0;
  int64_t thread_growth = 0;
  uint64_t bound_bytes = 0;
  bool inexact = false;
  bool thread_known = false;    // thread_allocated is known
  bool thread_watched = false;  // thread_…growth is known
  bool has_rows = false;        // leaked and the stacks are known
  bool ended = false;
  bool was_stopped = false;
};

enum class ScopeOrder { kPeak, kLeaked, kGrowth, kAllocated };

class Segments {
 public:
  // `counts` tells whether this process still counts. It does not in a forked child, and a signal
  // handler may fork in the middle of a mark. A null pointer means that it does.
  constexpr explicit Segments(const Region& region, bool (*counts)() = nullptr)
      : region_(region), counts_(counts) {}

  // While it lives, the calling thread may make marks.
  class Turn {
   public:
    // `thread` distinguishes the calling thread from other living ones.
    Turn(Segments& segments, const void* thread);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool mine() const { return mine_; }

   private:
    Segments& segments_;
    bool mine_;
  };

  // All of these need the turn.

  // Returns 0 if there are kMaxScopes already. `watch`: measure the thread's own peak
  // (WatchThread).
  ScopeId Begin(const ScopeCaller& caller, bool watch);
  // Makes a mark, unless the scope has ended. False: there is no such scope, or nothing is counted
  // any more.
  bool Read(ScopeId id, const ScopeCaller& caller, bool end, ScopeFigures* figures);
  // Sites: the number of rows of an ended scope; 0: no such scope. Row: the row of a site.
  uint32_t Sites(ScopeId id) const;
  SiteRow Row(ScopeId id, ScopeOrder order, uint32_t site) const;
  // Returns whether it was one with `watch`.
  bool Release(ScopeId id);
  // Releases the scopes of ReleaseLater. Returns how many of them had `watch`.
  uint32_t ReleaseLeft();

  // Keeps what is live under a name; `time_ns` is after the start. False: no room.
  bool KeepNamedMoment(const char* name, uint64_t time_ns);

  // Counting was stopped or started again: all open scopes note it.
  void NoteStopped();

  // The thread that has the turn was taken out of it: open scopes are inexact from now on.
  void Forget(const void* thread);

  // Pre: the region is another one, and nobody else uses this. There are no scopes afterwards.
  void Restart();

  // Any thread, at any time: the next thread with the turn releases the scope. For threads that
  // can't get the turn.
  void ReleaseLater(ScopeId id);

  // Any thread, at any time: the highest peak of the segments that have ended, according to the
  // word, and how much threads may have held back from it.
  uint64_t KeptPeak() const;
  uint64_t SlackBound() const;

 private:
  struct Scope {
    uint32_t generation = 0;
    bool used = false;
    bool ended = false;
    bool watch = false;
    bool inexact = false;
    bool was_stopped = false;
    bool has_rows = false;
    int64_t start = 0;    // according to the word
    int64_t highest = 0;  // according to the word
    uint64_t raced_bytes = 0;
    uint64_t peak_raced_bytes = 0;
    uint64_t shared_at_start = 0;
    RowArray base, base_totals, peak, end, end_totals;
    SiteRow base_sum, base_totals_sum, peak_sum;
    const ThreadSlot* slot = nullptr;
    uint32_t slot_taken = 0;  // ThreadSlot.taken of the thread that began it
    SiteRow thread_allocated;
    int64_t watched_start = 0;
    int64_t watched_highest = 0;
    ScopeFigures figures;  // set when it has ended
  };

  static bool BeganBy(const Scope& scope, const ThreadSlot* slot);
  Scope* Find(ScopeId id);
  const Scope* Find(ScopeId id) const { return const_cast<Segments*>(this)->Find(id); }
  bool Counts() const { return counts_ == nullptr || counts_(); }
  bool IsHighest(uint64_t peak) const;
  bool IsWanted(uint64_t peak) const;
  // Both return false if nothing is counted any more, and nothing may be written to the region.
  bool EndSegment();
  bool Mark();
  void Publish(uint64_t peak);
  void Offer(uint64_t peak);
  void FoldWatched(ThreadSlot& slot);
  uint32_t TakeNamedMomentRows(uint32_t rows, uint32_t& room);
  ScopeFigures FiguresOf(const Scope& scope, const ScopeCaller& caller) const;

  const Region& region_;
  bool (*const counts_)();
  std::atomic<const void*> turn_{nullptr};  // the thread that has the turn
  Scope scopes_[kMaxScopes];
  std::atomic<ScopeId> released_later_[kMaxScopes] = {};

  // The results of the newest mark.
  PeakState before_ = {};  // the state at the end of the segment
  EpochRows peak_;         // its rows, if anybody needed them
  EpochRows now_;          // what is live at the mark
};

}  // namespace memprof
