// SampleFilter: tells whether an address may be that of a sampled block. Nearly every free asks it,
// and nearly every answer is no: a load and a compare.
//
// It has counters of one byte, by a hash of the address. Neighbours in the heap are neighbours
// here, so that a program that frees them one after the other stays in a few lines; addresses a
// power of two apart are not. A full counter stays full: its addresses then get the answer yes for
// ever.
//
// Thread safety: any thread, also a signal handler that interrupts any of the functions; lock-free.
// Memory order: relaxed. A thread that frees a block got its address from the thread that allocated
// it, and with it everything that happened before.
// Memory: 64 KiB, zero-initialised. With a thousand sampled blocks, 1.5 % of the addresses of other
// freed blocks get the answer yes, which costs a look into the live map.
// Invariant: MayHave is true for every address that was added and not removed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memprof {

class SampleFilter {
 public:
  [[gnu::always_inline]] bool MayHave(uintptr_t address) const {
    return counters_[Place(address)].load(std::memory_order_relaxed) != 0;
  }

  void Add(uintptr_t address) { Change(address, 1); }
  // Pre: it was added.
  void Remove(uintptr_t address) { Change(address, -1); }

 private:
  static constexpr unsigned kBits = 16;
  static constexpr uint8_t kFull = 0xff;

  // Blocks are at least 16 bytes apart; the counters repeat every 1 MiB of the heap.
  static size_t Place(uintptr_t address) {
    constexpr uintptr_t kOdd = 0x9e35;
    return ((address >> 4) + (address >> (4 + kBits)) * kOdd) & ((size_t{1} << kBits) - 1);
  }

  void Change(uintptr_t address, int by) {
    std::atomic<uint8_t>& counter = counters_[Place(address)];
    uint8_t seen = counter.load(std::memory_order_relaxed);
    while (seen != kFull && !counter.compare_exchange_weak(seen, static_cast<uint8_t>(seen + by),
                                                           std::memory_order_relaxed)) {
    }
  }

  std::atomic<uint8_t> counters_[size_t{1} << kBits];
};

}  // namespace memprof
