// InternIndex: hash → id of a record that is kept elsewhere. Insert-only but for Forget.
//
// A list of open-addressed tables, each twice the one before. A search begins in the newest; what
// is found in an older one is entered in the newest too, so old tables fall out of use by
// themselves and growing never stops anybody.
//
// Thread safety: any thread, also a signal handler that interrupts any of the functions; lock-free.
// Two threads that enter equal records at the same moment may both succeed: the record then has two
// ids. That is harmless here (equal stacks are merged when read) and rare.
//
// Memory order: a record is complete before its entry is released; Find acquires the entry before
// `equals` looks at the record. Entering and forgetting are sequentially consistent: see Forget.
// Memory: 16 to 32 bytes a record, mmap'ed.
// Failure: Insert without memory enters nothing; the record is then entered again next time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/private_memory.h"

namespace memprof {

class InternIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The id for which `equals(id)` holds among those of this hash, or kNone.
  template <typename Equals>
  uint32_t Find(uint64_t hash, Equals equals) {
    Table* newest = newest_.load(std::memory_order_acquire);
    for (Table* table = newest; table != nullptr; table = table->older) {
      std::atomic<uint64_t>* place = nullptr;
      const uint32_t id = FindIn(*table, hash, equals, &place);
      if (id == kNone) continue;
      if (table != newest) Copy(hash, id, *place);
      return id;
    }
    return kNone;
  }

  // Pre: id < 2^31 - 2; the record is complete.
  void Insert(uint64_t hash, uint32_t id) { Enter(hash, Entry(hash, id)); }

  // Makes every id for which `gone(id)` holds unfindable. Walks all: for rare events.
  //
  // A Find copies an id from an older table to a newer one. It enters the copy as one that nobody
  // finds, reads the original again, and makes the copy one that is found unless the original was
  // forgotten. The walk is from the oldest table to the newest. So an original that was not yet
  // forgotten when it was read again is older than a table that the walk has yet to come to, and in
  // which the copy is by then: the walk marks it too. That holds for copies of copies as well,
  // since nobody copies what isn't found. A table that was added meanwhile is walked, or was added
  // after all originals were marked.
  template <typename Gone>
  void Forget(Gone gone) {
    const Table* walked = nullptr;  // up to this one
    for (;;) {
      Table* const newest = newest_.load(std::memory_order_seq_cst);
      if (newest == walked) return;
      while (walked != newest) {
        Table* next = newest;  // the oldest that is newer than `walked`; there are few tables
        while (next->older != walked) next = next->older;
        ForgetIn(*next, gone);
        walked = next;
      }
    }
  }

  // Gives the memory back. Only when nobody uses the index any more (tests).
  void Destroy() {
    for (Table* table = newest_.load(); table != nullptr;) {
      Table* older = table->older;
      const size_t bytes = TableBytes(table->capacity);
      UnmapMemory(table, bytes);
      CountPrivateBytes(-static_cast<int64_t>(bytes));
      table = older;
    }
    newest_.store(nullptr);
  }

 private:
  static constexpr size_t kFirstCapacity = 1024;
  static constexpr uint64_t kForgotten = ~0ull;
  static constexpr uint64_t kHidden = 1ull << 31;  // of a copy that isn't found yet; of kForgotten

  struct Table {
    Table* older;
    size_t capacity;  // a power of two
    std::atomic<uint64_t> used;
    uint64_t unused;
    std::atomic<uint64_t> entries[1];  // capacity of them: upper half of the hash | id + 1
  };

  template <typename Gone>
  static void ForgetIn(Table& table, Gone gone) {
    for (size_t at = 0; at < table.capacity; ++at) {
      const uint64_t entry = table.entries[at].load(std::memory_order_seq_cst);
      if (entry == 0 || entry == kForgotten) continue;
      if (!gone(static_cast<uint32_t>((entry & ~kHidden) - 1))) continue;
      table.entries[at].store(kForgotten, std::memory_order_seq_cst);
    }
  }

  static size_t TableBytes(size_t capacity) {
    return (sizeof(Table) + capacity * sizeof(uint64_t) + 4095) / 4096 * 4096;
  }
  static uint64_t Entry(uint64_t hash, uint32_t id) {
    return (hash & 0xffffffff00000000ull) | (id + 1u);
  }

  template <typename Equals>
  static uint32_t FindIn(Table& table, uint64_t hash, Equals equals,
                         std::atomic<uint64_t>** place) {
    const size_t mask = table.capacity - 1;
    for (size_t i = 0, at = hash & mask; i < table.capacity; ++i, at = (at + 1) & mask) {
      const uint64_t entry = table.entries[at].load(std::memory_order_acquire);
      if (entry == 0) return kNone;
      if (((entry ^ hash) >> 32) != 0 || (entry & kHidden) != 0) continue;
      const uint32_t id = static_cast<uint32_t>(entry) - 1;
      if (!equals(id)) continue;
      *place = &table.entries[at];
      return id;
    }
    return kNone;
  }

  // Enters an id that was found in an older table in the newest, unless it is forgotten meanwhile.
  void Copy(uint64_t hash, uint32_t id, const std::atomic<uint64_t>& original) {
    uint64_t hidden = Entry(hash, id) | kHidden;
    std::atomic<uint64_t>* copy = Enter(hash, hidden);
    if (copy == nullptr) return;
    const bool forgotten = original.load(std::memory_order_seq_cst) == kForgotten;
    // Fails where the walk was here.
    copy->compare_exchange_strong(hidden, forgotten ? kForgotten : hidden & ~kHidden,
                                  std::memory_order_seq_cst, std::memory_order_relaxed);
  }

  // Where the entry now is; nullptr without memory.
  std::atomic<uint64_t>* Enter(uint64_t hash, uint64_t entry) {
    Table* table = newest_.load(std::memory_order_seq_cst);
    if (table == nullptr || table->used.load(std::memory_order_relaxed) * 2 >= table->capacity) {
      table = Grow(table);
      if (table == nullptr) return nullptr;
    }
    const size_t mask = table->capacity - 1;
    for (size_t i = 0, at = hash & mask; i < table->capacity; ++i, at = (at + 1) & mask) {
      uint64_t empty = 0;
      if (table->entries[at].compare_exchange_strong(empty, entry, std::memory_order_seq_cst,
                                                     std::memory_order_relaxed)) {
        table->used.fetch_add(1, std::memory_order_relaxed);
        return &table->entries[at];
      }
    }
    return nullptr;
  }

  // Puts a table twice as large in front of `table`, unless another thread did.
  Table* Grow(Table* table) {
    const size_t capacity = table == nullptr ? kFirstCapacity : table->capacity * 2;
    const size_t bytes = TableBytes(capacity);
    auto* larger = static_cast<Table*>(MapMemory(bytes));
    if (larger == nullptr) return table;
    CountPrivateBytes(static_cast<int64_t>(bytes));
    larger->older = table;
    larger->capacity = capacity;
    if (newest_.compare_exchange_strong(table, larger, std::memory_order_seq_cst)) {
      return larger;
    }
    UnmapMemory(larger, bytes);
    CountPrivateBytes(-static_cast<int64_t>(bytes));
    return table;
  }

  std::atomic<Table*> newest_{nullptr};
};

// Mixes two words into a hash whose every bit depends on every bit of both.
inline uint64_t MixHash(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b * 0x9e3779b97f4a7c15ull)) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 32;
  h *= 0x94d049bb133111ebull;
  return h ^ (h >> 29);
}

}  // namespace memprof
