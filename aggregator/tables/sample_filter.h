// SampleFilter: whether an address may be that of a sampled block. Nearly every free asks it, and
// nearly every answer is no: a load and a compare.
//
// Counters of one byte by a hash of the address. Neighbours in the heap are neighbours here, so
// that a program that frees them one after the other stays in a few lines; what is a power of two
// apart isn't. A counter that is full stays so: its addresses are asked for in vain from then on.
//
// Thread safety: any thread, also a signal handler that interrupts any of the functions; lock-free.
// Memory order: relaxed. Who frees a block got its address from who allocated it, and with it all
// that happened before.
// Memory: 64 KiB, zero-initialised: of a thousand sampled blocks 1.5 % of the free blocks'
// addresses are taken for one, which costs a look into the live map. Invariant: MayHave of every
// address that was added and not removed.
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

  // 16 bytes are the least distance of two blocks; 1 MiB of the heap are one round.
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
