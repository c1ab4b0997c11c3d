// InternIndex: from a hash to the id of a record that is kept elsewhere. Insert-only.
//
// It is a list of open-addressed tables, each twice as large as the one before. A search begins in
// the newest table. A record that is found in an older one is entered in the newest too. So old
// tables fall out of use by themselves, and growing never stops anybody.
//
// Thread safety: any thread, also a signal handler that interrupts any of the functions; lock-free.
// Two threads that enter equal records at the same moment may both succeed: the record then has two
// ids. That is harmless here (equal stacks are merged when read) and rare.
//
// Memory order: a record is complete before its entry is released; Find acquires the entry before
// `equals` reads the record.
// Memory: 16 to 32 bytes a record, mmap'ed.
// Failure: without memory for a larger table the newest one is filled to seven eighths, so that a
// search stays short. Then HasRoom is false, and Insert enters nothing. Memory is asked for again now
// and then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/basics/private_memory.h"

namespace memprof {

class InternIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The id of this hash for which `equals(id)` holds, or kNone.
  template <typename Equals>
  uint32_t Find(uint64_t hash, Equals equals) {
    Table* newest = newest_.load(std::memory_order_acquire);
    for (Table* table = newest; table != nullptr; table = table->older) {
      const uint32_t id = FindIn(*table, hash, equals);
      if (id == kNone) continue;
      if (table != newest) Insert(hash, id);
      return id;
    }
    return kNone;
  }

  // Whether Insert will enter a record, unless other threads enter many before. Makes room.
  bool HasRoom() { return TableWithRoom() != nullptr; }

  // Makes room for so many records, or twice as many as there are, as long as memory may be had.
  void Reserve(size_t records) {
    Table* const table = newest_.load(std::memory_order_acquire);
    size_t capacity = kFirstCapacity;
    while (capacity < 2 * records) capacity *= 2;
    if (table != nullptr && capacity < 4 * table->capacity) capacity = 4 * table->capacity;
    Grow(table, capacity);
  }

  // Pre: id < 2^32 - 1; the record is complete.
  void Insert(uint64_t hash, uint32_t id) {
    Table* const table = TableWithRoom();
    if (table == nullptr) return;
    const uint64_t entry = (hash & 0xffffffff00000000ull) | (id + 1u);
    const size_t mask = table->capacity - 1;
    for (size_t i = 0, at = hash & mask; i < table->capacity; ++i, at = (at + 1) & mask) {
      uint64_t empty = 0;
      if (table->entries[at].compare_exchange_strong(empty, entry, std::memory_order_release,
                                                     std::memory_order_relaxed)) {
        table->used.fetch_add(1, std::memory_order_relaxed);
        return;
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
  static constexpr uint32_t kPauseWithoutMemory = 4096;

  struct Table {
    Table* older;
    size_t capacity;  // a power of two
    std::atomic<uint64_t> used;
    uint64_t unused;
    std::atomic<uint64_t> entries[1];  // capacity of them: upper half of the hash | id + 1
  };

  static size_t TableBytes(size_t capacity) {
    return (sizeof(Table) + capacity * sizeof(uint64_t) + 4095) / 4096 * 4096;
  }

  template <typename Equals>
  static uint32_t FindIn(Table& table, uint64_t hash, Equals equals) {
    const size_t mask = table.capacity - 1;
    for (size_t i = 0, at = hash & mask; i < table.capacity; ++i, at = (at + 1) & mask) {
      const uint64_t entry = table.entries[at].load(std::memory_order_acquire);
      if (entry == 0) return kNone;
      if (((entry ^ hash) >> 32) != 0) continue;
      const uint32_t id = static_cast<uint32_t>(entry) - 1;
      if (equals(id)) return id;
    }
    return kNone;
  }

  Table* TableWithRoom() {
    Table* table = newest_.load(std::memory_order_acquire);
    if (table != nullptr && table->used.load(std::memory_order_relaxed) * 2 < table->capacity) {
      return table;
    }
    // A lost update makes the pause a little longer.
    const uint32_t pause = pause_.load(std::memory_order_relaxed);
    if (pause != 0) {
      pause_.store(pause - 1, std::memory_order_relaxed);
    } else {
      table = Grow(table, table == nullptr ? kFirstCapacity : table->capacity * 2);
    }
    if (table == nullptr) return nullptr;
    return table->used.load(std::memory_order_relaxed) * 8 < table->capacity * 7 ? table : nullptr;
  }

  // Puts a table in front of `table`, unless another thread did.
  Table* Grow(Table* table, size_t capacity) {
    const size_t bytes = TableBytes(capacity);
    auto* larger = static_cast<Table*>(MapMemory(bytes));
    if (larger == nullptr) {
      pause_.store(kPauseWithoutMemory, std::memory_order_relaxed);
      return table;
    }
    CountPrivateBytes(static_cast<int64_t>(bytes));
    larger->older = table;
    larger->capacity = capacity;
    if (newest_.compare_exchange_strong(table, larger, std::memory_order_acq_rel)) {
      return larger;
    }
    UnmapMemory(larger, bytes);
    CountPrivateBytes(-static_cast<int64_t>(bytes));
    return table;
  }

  std::atomic<Table*> newest_{nullptr};
  std::atomic<uint32_t> pause_{0};  // calls that don't ask for memory
};

// Mixes two words into a hash whose every bit depends on every bit of both.
inline uint64_t MixHash(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b * 0x9e3779b97f4a7c15ull)) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 32;
  h *= 0x94d049bb133111ebull;
  return h ^ (h >> 29);
}

}  // namespace memprof
