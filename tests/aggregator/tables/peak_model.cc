// PeakTracker, step by step: virtual threads enter events and make marks, and before each access to
// shared memory a scheduler chooses which thread takes the next step. After each step the word and
// the accounts are compared with a model that takes one event at a time; after some, the rows of
// the peak, too.
//
//   threads   come over time, allocate, free and reallocate, and make marks; some have no slot;
//             one may be taken out of an event anywhere (a signal handler that leaves it); some
//             don't move for a long time
//   looks     are taken at the live bytes: off by no more than what was entered meanwhile
//   waiting   now and then one thread alone takes all steps: it must end its event soon
//
// usage: peak_model FIRST-SEED RUNS
// Exits with 1 and the seed if something differs. peak_mutations_test.py changes rules of the
// tracker and expects that.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "aggregator/tables/booking.h"
#include "aggregator/tables/peak_tracker.h"

extern "C" void SwitchStacks(void** from, void* to);
__asm__(R"(
.text
.globl SwitchStacks
SwitchStacks:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
)");

namespace memprof {
namespace {

constexpr size_t kSites = 3;
constexpr size_t kThreads = 24;
constexpr size_t kStackBytes = size_t{1} << 16;
constexpr int kStepsOfARun = 3000;
constexpr int kMostStepsAlone = 400;

struct Block {
  size_t site;
  uint64_t bytes;
};

struct Thread {
  std::unique_ptr<char[]> stack;
  void* sp = nullptr;
  bool started = false;
  bool has_slot = false;
  bool stands_still = false;

  // its event
  bool busy = false;
  bool is_mark = false;
  bool is_look = false;
  bool entered = false;
  bool booked = false;
  bool frees = false;
  bool allocates = false;
  Block old = {};
  Block made = {};
  uint64_t epoch = 0;
  uint64_t events = 0;
  // what the model has had while it looks
  int64_t lowest = 0;
  int64_t highest = 0;
  int64_t moved = 0;

  PeakShare share = {};
  Cell cells[kSites] = {};
};

struct World {
  PackedPeak word = Pack({0, 0, 0, false});
  PeakPolicy policy = {};
  std::unique_ptr<PeakAccount[]> accounts = std::make_unique<PeakAccount[]>(kPeakAccounts);
  uint32_t slots = 0;
  Thread threads[kThreads];
  std::vector<Block> blocks;

  // the model
  PeakState state = {0, 0, 0, false};
  int64_t live[kSites] = {};
  int64_t at_peak[kSites] = {};

  uint64_t seed = 0;
  uint64_t begins_percent = 50;
  uint64_t allocates_percent = 50;
  uint64_t largest = 40;
};

struct Totals {
  uint64_t steps, events, in_accounts, marks, looks, most_alone;
} totals;

World* world;
size_t running;
void* scheduler;
std::mt19937_64 random_number;

bool Percent(uint64_t percent) { return random_number() % 100 < percent; }

void Yield() { SwitchStacks(&world->threads[running].sp, scheduler); }

int64_t LiveNow() {
  const PeakState state = Unpack(world->word);
  if (!state.far) return state.current;
  const GenerationStart start =
      StartOf(world->accounts.get(), kPeakAccounts, state.generation, kLoadAccount);
  AccountSums sums;
  SumAccounts(world->accounts.get(), start, state.generation, kLoadAccount, sums);
  return sums.live;
}

[[noreturn]] void Fail(const char* what) {
  const PeakState state = Unpack(world->word);
  std::printf(
      "seed %llu: %s; found current %lld, peak %llu, epoch %llu, armed %d, far %d; "
      "expected current %lld, peak %llu, epoch %llu, armed %d\n",
      static_cast<unsigned long long>(world->seed), what, static_cast<long long>(LiveNow()),
      static_cast<unsigned long long>(state.peak), static_cast<unsigned long long>(state.epoch),
      state.armed, state.far, static_cast<long long>(world->state.current),
      static_cast<unsigned long long>(world->state.peak),
      static_cast<unsigned long long>(world->state.epoch), world->state.armed);
  std::exit(1);
}

// The same event in the model. In the tracker the exchange has just been made.
void EnterInModel(uint64_t epoch) {
  World& w = *world;
  Thread& thread = w.threads[running];
  if (thread.entered) Fail("an event was entered twice");
  thread.entered = true;
  thread.epoch = epoch;
  if (thread.is_mark) {
    w.state = Marked(w.state);
    std::memcpy(w.at_peak, w.live, sizeof w.live);
    ++totals.marks;
    return;
  }
  const uint64_t before = w.state.peak;
  const int64_t current_before = w.state.current;
  w.state =
      Apply(w.state, thread.allocates ? thread.made.bytes : 0, thread.frees ? thread.old.bytes : 0);
  if (thread.frees) w.live[thread.old.site] -= static_cast<int64_t>(thread.old.bytes);
  if (thread.allocates) w.live[thread.made.site] += static_cast<int64_t>(thread.made.bytes);
  if (w.state.peak > before) std::memcpy(w.at_peak, w.live, sizeof w.live);
  if (epoch != w.state.epoch) Fail("the event has another epoch");
  if (IsFar(w.word)) ++totals.in_accounts;
  const int64_t change = w.state.current - current_before;
  for (Thread& looking : w.threads) {
    if (!looking.busy || !looking.is_look) continue;
    looking.lowest = std::min(looking.lowest, w.state.current);
    looking.highest = std::max(looking.highest, w.state.current);
    looking.moved += std::abs(change);
  }
}

struct Steps {
  static constexpr bool kChooses = true;
  static void Access() { Yield(); }
  static void Entered(uint64_t epoch) { EnterInModel(epoch); }
  static void Pause() { Yield(); }
  static bool Begins() { return Percent(world->begins_percent); }
};
using Tracker = BasicPeakTracker<Steps>;

void BookEvent(const Thread& thread, Cell* cells) {
  if (thread.is_mark || thread.is_look) return;
  if (thread.frees) {
    Book(cells[thread.old.site], thread.epoch, {.freed_bytes = thread.old.bytes, .freed_count = 1});
  }
  if (thread.allocates) {
    Book(cells[thread.made.site], thread.epoch,
         {.allocated_bytes = thread.made.bytes, .allocated_count = 1});
  }
}

void ChooseEvent(Thread& thread) {
  World& w = *world;
  const uint64_t kind = random_number() % 100;
  thread.is_mark = thread.has_slot && random_number() % 200 == 0;
  thread.is_look = !thread.is_mark && random_number() % 20 == 0;
  const bool is_event = !thread.is_mark && !thread.is_look;
  thread.frees = is_event && !w.blocks.empty() && (kind >= w.allocates_percent || kind < 5);
  thread.allocates = is_event && (kind < w.allocates_percent || !thread.frees);
  thread.lowest = thread.highest = w.state.current;
  thread.moved = 0;
  if (thread.frees) {
    std::swap(w.blocks[random_number() % w.blocks.size()], w.blocks.back());
    thread.old = w.blocks.back();
    w.blocks.pop_back();
  }
  thread.made = {random_number() % kSites,
                 random_number() % (random_number() % 8 == 0 ? 8 * w.largest : w.largest)};
  thread.entered = thread.booked = false;
  thread.busy = true;
}

void Look(const Tracker& tracker, Thread& thread) {
  const int64_t found = tracker.Current();
  if (found < thread.lowest - thread.moved || found > thread.highest + thread.moved) {
    Fail("a look saw live bytes that never were");
  }
  thread.entered = true;
  ++totals.looks;
}

void EnterEvent(Thread& thread, uint32_t slot) {
  Tracker tracker(PeakPlace{&world->word, world->accounts.get(), &world->policy});
  if (thread.is_look) {
    Look(tracker, thread);
    return;
  }
  if (thread.is_mark) {
    tracker.EndSegment();
    return;
  }
  const uint64_t added = thread.allocates ? thread.made.bytes : 0;
  const uint64_t removed = thread.frees ? thread.old.bytes : 0;
  uint64_t epoch;
  if (!thread.has_slot) {
    epoch = tracker.Record(added, removed);
  } else if (!Tracker::RecordInAccount(world->accounts[AccountOfSlot(slot)].account, thread.share,
                                       added, removed, epoch)) {
    epoch = tracker.Record({&thread.share, slot, world->slots, true}, added, removed);
  }
  if (epoch != thread.epoch) Fail("the caller got another epoch");
}

[[noreturn]] void Work() {
  const size_t own = running;
  for (;;) {
    Thread& thread = world->threads[own];
    ChooseEvent(thread);
    EnterEvent(thread, static_cast<uint32_t>(own));
    if (!thread.entered) Fail("an event was not entered");
    if (Percent(50)) Yield();  // it is in the order, and not yet in its cell
    BookEvent(thread, thread.cells);
    thread.booked = true;
    if (thread.allocates) world->blocks.push_back(thread.made);
    thread.busy = false;
    ++thread.events;
    ++totals.events;
    Yield();
  }
}

void Start(size_t number, bool has_slot) {
  Thread& thread = world->threads[number];
  if (thread.stack == nullptr) thread.stack = std::make_unique<char[]>(kStackBytes);
  auto top = reinterpret_cast<uintptr_t>(thread.stack.get() + kStackBytes) & ~uintptr_t{15};
  auto* words = reinterpret_cast<uintptr_t*>(top) - 8;
  std::memset(words, 0, 8 * sizeof *words);
  words[6] = reinterpret_cast<uintptr_t>(&Work);  // where SwitchStacks returns to
  thread.sp = words;
  thread.started = true;
  thread.has_slot = has_slot;
  thread.stands_still = false;
  thread.busy = false;
}

// A signal handler leaves the event. If it is in the order, the model has it booked.
void TakeOut(size_t number) {
  Thread& thread = world->threads[number];
  if (thread.busy && !thread.entered && thread.frees) world->blocks.push_back(thread.old);
  if (thread.busy && thread.entered && !thread.booked) {
    BookEvent(thread, thread.cells);
    if (thread.allocates) world->blocks.push_back(thread.made);
  }
  Start(number, thread.has_slot);
}

void CheckWord() {
  const PeakState state = Unpack(world->word);
  const PeakState& expected = world->state;
  if (state.peak != expected.peak) Fail("another peak");
  if (state.epoch != expected.epoch) Fail("another epoch");
  if (state.armed != expected.armed) Fail("armed or not");
  if (LiveNow() != expected.current) Fail("another number of live bytes");
}

// With the events booked that are in the order and not yet in their cells.
void CheckRows() {
  const PeakState state = Unpack(world->word);
  int64_t rows[kSites] = {};
  for (const Thread& thread : world->threads) {
    if (!thread.started) continue;
    for (size_t site = 0; site < kSites; ++site) {
      const Cell& from = thread.cells[site];
      Cell cell = {};
      cell.epoch = from.epoch.load();
      cell.allocated_bytes = from.allocated_bytes.load();
      cell.freed_bytes = from.freed_bytes.load();
      cell.peak_bytes = from.peak_bytes.load();
      const bool late =
          thread.busy && thread.entered && !thread.booked && !thread.is_mark && !thread.is_look;
      if (late && thread.frees && thread.old.site == site) {
        Book(cell, thread.epoch, {.freed_bytes = thread.old.bytes, .freed_count = 1});
      }
      if (late && thread.allocates && thread.made.site == site) {
        Book(cell, thread.epoch, {.allocated_bytes = thread.made.bytes, .allocated_count = 1});
      }
      rows[site] += !state.armed && cell.epoch == state.epoch
                        ? cell.peak_bytes.load()
                        : static_cast<int64_t>(cell.allocated_bytes - cell.freed_bytes);
    }
  }
  for (size_t site = 0; site < kSites; ++site) {
    if (rows[site] != world->at_peak[site]) Fail("another row of the peak");
  }
}

// Threads with slots are first; the last two of all have none.
void Run(uint64_t seed) {
  random_number.seed(seed);
  World own;
  world = &own;
  own.seed = seed;
  own.begins_percent = 10 + random_number() % 4 * 30;
  own.largest = 1 + random_number() % 60;
  own.allocates_percent = 45 + random_number() % 12;
  const bool many_come = seed % 3 == 0;
  const uint32_t most = many_come ? kThreads - 2 : 1 + static_cast<uint32_t>(random_number() % 6);
  const auto arrive = [&] { Start(own.slots, true), ++own.slots; };
  arrive();
  while (!many_come && own.slots < most && Percent(60)) arrive();
  if (Percent(50)) Start(kThreads - 1, false);
  if (Percent(30)) Start(kThreads - 2, false);
  const bool stand_still = Percent(60);
  const uint64_t longest_burst = Percent(30) ? 60 : 1 + random_number() % 12;
  uint64_t burst = 0;
  size_t next = 0;
  size_t tired = kThreads;  // stands still after this burst; kThreads: none
  bool alone = false;
  uint64_t alone_events = 0;
  uint64_t alone_steps = 0;
  for (int step = 0; step < kStepsOfARun; ++step) {
    if (own.slots < most && random_number() % (many_come ? 100 : 400) == 0) {
      arrive();
      // It looks at the word for the first time, and then not again for long.
      if (many_come && !alone) {
        next = own.slots - 1;
        burst = 2 + random_number() % 10;
        tired = next;
      }
    }
    if (random_number() % 300 == 0) own.allocates_percent = 40 + random_number() % 22;
    if (random_number() % 97 == 0) {
      for (Thread& thread : own.threads) thread.stands_still = stand_still && Percent(33);
    }
    if (random_number() % 500 == 0 && !alone) TakeOut(random_number() % own.slots);
    if (!alone && random_number() % 200 == 0) {
      next = random_number() % own.slots;
      alone = true;
      alone_events = own.threads[next].events;
      alone_steps = 0;
    }
    if (alone) {
      if (++alone_steps > kMostStepsAlone) Fail("an event waits for another thread");
      if (totals.most_alone < alone_steps) totals.most_alone = alone_steps;
    } else if (burst-- == 0) {
      if (tired < kThreads) own.threads[tired].stands_still = true;
      tired = kThreads;
      do {
        next = random_number() % kThreads;  // most of them have not started
      } while (!own.threads[next].started ||
               (own.threads[next].stands_still && random_number() % 50 != 0));
      burst = random_number() % longest_burst;
    }
    running = next;
    SwitchStacks(&scheduler, own.threads[next].sp);
    if (alone && own.threads[next].events != alone_events) {
      alone = false;
      burst = 0;
    }
    CheckWord();
    if (step % 4 == 0) CheckRows();
    ++totals.steps;
  }
}

}  // namespace
}  // namespace memprof

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const uint64_t runs = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t i = 0; i < runs; ++i) memprof::Run(first + i);
  const auto& totals = memprof::totals;
  std::printf(
      "%llu steps, %llu events, %llu of them while far, %llu marks, %llu looks; most steps of one "
      "alone: %llu\n",
      static_cast<unsigned long long>(totals.steps), static_cast<unsigned long long>(totals.events),
      static_cast<unsigned long long>(totals.in_accounts),
      static_cast<unsigned long long>(totals.marks), static_cast<unsigned long long>(totals.looks),
      static_cast<unsigned long long>(totals.most_alone));
  return totals.in_accounts == 0 || totals.marks == 0 || totals.looks == 0 ? 1 : 0;
}
