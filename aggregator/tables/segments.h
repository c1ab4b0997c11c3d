// Segments: the peaks of parts of the run, and the scopes that a program asks for.
//
//   heap  │        ╭╮ 90
//         │  ╭╮70 ╭╯│     ╭╮ 80
//         │ ╭╯╰╮ ╭╯ ╰╮   ╭╯╰╮
//         │╭╯  ╰─╯   ╰───╯  ╰──
//   marks ┊    ┊         ┊     ┊
//         begin A        ┊     end A      A: 90, of B's segment
//              begin B   end B            B: 90; the run: 90
//
// A mark ends a segment: what the heap's highest moment in it was, by site, is offered to whoever
// is open: the run (RegionHeader.kept_peaks) and every open scope. Each keeps the highest that it
// was offered. So a scope has the larger of its own and of those within it, however they nest or
// overlap.
//
// A mark, of which one is made at a time:
//   1. The word's maximum is disarmed, if it is now: its rows are those of the word's epoch E, and
//      the cells keep them whatever is allocated, until a higher maximum has come and gone.
//   2. The rows of E are summed, and published as the run's if they are the highest so far.
//   3. The word begins the next segment {peak = current, epoch E+1} by an exchange that fails if
//      there was a new maximum meanwhile: then again from 1, at most kTries times. So what was
//      summed is what the word forgets.
//   4. What is live at the mark are the rows of E+1, by the same rule.
//   5. The rows of E are given to the open scopes that they are higher than.
// 1 and 2 are left out where nobody would keep the result. Events do nothing for all this.
//
// Thread safety: any thread, in a tracker's scope that isn't nested (tracker.h): a signal handler
// that interrupts a mark is turned away. Threads that allocate never wait for a mark, nor a mark
// for them. Marks are made one at a time: a second one waits for the first, for 0.1 s at most; then
// it is not made. (The first may have been left by siglongjmp: Forget.)
//
// Exact: with one thread; with several where no thread made a new maximum and gave it up while the
// rows were summed, and none had an event in the word that was not yet in its cell. Else, and where
// threads keep bytes back from the word, a scope's bound says by how much: rows that moved on, and
// the difference between the growth by rows and by the word. A scope's figures are those by rows;
// the word only says which moment's. What it calls a peak but held less than the scope's begin, or
// than there is now, is none.
//
// Memory order: the word is read and changed by cmpxchg16b, a full barrier; a cell's event of epoch
// E or older was in the word before step 3 and so is summed in step 4, unless it is in flight.
// Kept rows are published by the release of kept_generation, which readers acquire before and after
// (core/region_reader); the half that is valid is never written to. A named snapshot's record has a
// sequence, odd while it is written.
// Memory: 80 bytes a site for each scope at once, private, which only grows.
// Failure: no scope, or one without rows. Where a signal handler that interrupts a mark forks, the
// child goes on with the mark: whatever is done in the region, which is the parent's, asks first.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/tables/epoch_rows.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

inline constexpr uint32_t kMaxScopes = 64;

// A scope's number, never 0, and never the same twice.
using ScopeId = uint64_t;

// What a scope is asked by. `slot`: the calling thread's, with what it allocated and freed so far.
struct ScopeCaller {
  ThreadSlot* slot = nullptr;
  SiteRow allocated;
  bool stopped = false;  // nothing is counted now
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
  bool thread_known = false;    // thread_allocated
  bool thread_watched = false;  // thread_…growth
  bool has_rows = false;        // leaked, and the stacks
  bool ended = false;
  bool was_stopped = false;
};

enum class ScopeOrder { kPeak, kLeaked, kAllocated };

class Segments {
 public:
  // `counts`: whether this process still counts (it does not in a forked child, which a signal
  // handler may have made of the one that makes a mark); a null pointer: it does.
  constexpr explicit Segments(const Region& region, bool (*counts)() = nullptr)
      : region_(region), counts_(counts) {}

  // While it holds, the calling thread makes marks.
  class Turn {
   public:
    // `thread`: what tells the calling thread from others that live.
    Turn(Segments& segments, const void* thread);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool mine() const { return mine_; }

   private:
    Segments& segments_;
    bool mine_;
  };

  // All of these: in one's turn.

  // 0: there are kMaxScopes already. `watch`: know the thread's own peak (WatchThread).
  ScopeId Begin(const ScopeCaller& caller, bool watch);
  // Makes a mark, unless the scope has ended. False: there is no such scope, or nothing is counted
  // any more.
  bool Read(ScopeId id, const ScopeCaller& caller, bool end, ScopeFigures* figures);
  // The row of a site in an ended scope. `sites`: how many there are; 0: no such scope.
  uint32_t Sites(ScopeId id) const;
  SiteRow Row(ScopeId id, ScopeOrder order, uint32_t site) const;
  // Whether it was one with `watch`.
  bool Release(ScopeId id);
  // Releases the scopes of ReleaseLater. Returns how many of them were ones with `watch`.
  uint32_t ReleaseLeft();

  // Keeps what is live under a name, from `time_ns` after the start. False: no room.
  bool KeepSnapshot(const char* name, uint64_t time_ns);

  // A counting that was stopped or begins again: all open scopes know it.
  void NoteStopped();

  // The turn is that of a thread that was taken out of it: open scopes are inexact from now on.
  void Forget(const void* thread);

  // The region is another one, and nobody else uses this: there are no scopes.
  void Restart();

  // Any thread, at any time: whoever has the turn next releases it. For who can't have it.
  void ReleaseLater(ScopeId id);

  // Any thread, at any time: the highest counter of the segments that have ended, and what threads
  // may have kept back from the word.
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
    int64_t start = 0;    // by the word
    int64_t highest = 0;  // by the word
    uint64_t raced_bytes = 0;
    uint64_t peak_raced_bytes = 0;
    uint64_t shared_at_start = 0;
    RowArray base, base_totals, peak, end, end_totals;
    SiteRow base_sum, base_totals_sum, peak_sum;
    const ThreadSlot* slot = nullptr;
    uint32_t slot_taken = 0;  // by the thread that began it
    SiteRow thread_allocated;
    int64_t watched_start = 0;
    int64_t watched_highest = 0;
    ScopeFigures figures;  // once ended
  };

  static bool BeganBy(const Scope& scope, const ThreadSlot* slot);
  Scope* Find(ScopeId id);
  const Scope* Find(ScopeId id) const { return const_cast<Segments*>(this)->Find(id); }
  bool Counts() const { return counts_ == nullptr || counts_(); }
  bool IsHighest(uint64_t peak) const;
  bool IsWanted(uint64_t peak) const;
  // Both: false: nothing is counted any more, and nothing may be done in the region.
  bool EndSegment();
  bool Mark();
  void Publish(uint64_t peak);
  void Offer(uint64_t peak);
  void FoldWatched(ThreadSlot& slot);
  uint32_t TakeSnapshotRows(uint32_t rows, uint32_t& room);
  ScopeFigures FiguresOf(const Scope& scope, const ScopeCaller& caller) const;

  const Region& region_;
  bool (*const counts_)();
  std::atomic<const void*> turn_{nullptr};  // the thread whose turn it is
  Scope scopes_[kMaxScopes];
  std::atomic<ScopeId> released_later_[kMaxScopes] = {};

  // What the newest mark has.
  PeakState before_ = {};  // the segment's, as it ended
  EpochRows peak_;         // its rows, if anybody wanted them
  EpochRows now_;          // what is live at the mark
};

}  // namespace memprof
