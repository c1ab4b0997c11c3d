// RuleTable: pc → FrameRule, the cache that makes a frame cost a few nanoseconds.
//
// 4096 lines (one cache line each) of 8 entries of 8 bytes. A pc below 2^47 is spread by a
// multiplication with an odd number, which is a bijection modulo 2^47: the upper 12 bits of the
// product choose the line, the lower 35 are the tag, so line and tag together are the pc and no
// entry can answer for another one.
//
//   entry   tag : 35 | FrameRule : 29       0: empty
//
// Thread safety: lock-free. An entry is one word, whole in itself: a racing reader sees the old one
// or the new one, and each is right for the pc that it names. Async-signal-safe.
// Memory: 256 KiB of address space in .bss; a page is resident once one of its lines was filled.
// Memory order: all relaxed; nothing else is published through an entry.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/unwind/frame_rule.h"

namespace memprof {

class RuleTable {
 public:
  // kNone: not in the table.
  FrameRule Find(uintptr_t pc) const {
    const uint64_t key = Spread(pc);
    const std::atomic<uint64_t>* line = entries_[key >> kTagBits];
    const uint64_t tag = key << FrameRule::kBits;
    for (uint32_t i = 0; i < kWays; ++i) {
      const uint64_t difference = line[i].load(std::memory_order_relaxed) ^ tag;
      if (difference >> FrameRule::kBits == 0) return FrameRule(static_cast<uint32_t>(difference));
    }
    return FrameRule();
  }

  // REQUIRES: pc < 2^47, rule is not kNone.
  void Insert(uintptr_t pc, FrameRule rule) {
    const uint64_t key = Spread(pc);
    std::atomic<uint64_t>* line = entries_[key >> kTagBits];
    const uint64_t entry = (key << FrameRule::kBits) | rule.bits();
    // The newest goes first and the oldest falls out. Entries that a racing insert or Clear
    // changes meanwhile may be lost or kept twice; each remains right for its pc.
    uint64_t moved = entry;
    for (uint32_t i = 0; i < kWays && moved != 0; ++i) {
      const uint64_t next = line[i].load(std::memory_order_relaxed);
      line[i].store(moved, std::memory_order_relaxed);
      moved = next;
    }
  }

  // Forgets every rule. Reads what was never written without making it resident.
  void Clear() {
    for (auto& line : entries_) {
      for (auto& entry : line) {
        if (entry.load(std::memory_order_relaxed) != 0) entry.store(0, std::memory_order_relaxed);
      }
    }
  }

 private:
  static constexpr uint32_t kPcBits = 47;
  static constexpr uint32_t kLineBits = 12;
  static constexpr uint32_t kTagBits = kPcBits - kLineBits;
  static constexpr uint32_t kWays = 8;
  static_assert(kTagBits + FrameRule::kBits == 64);

  static constexpr uint64_t Spread(uintptr_t pc) {
    return (pc * 0x9e3779b97f4a7c15ull) & ((uint64_t{1} << kPcBits) - 1);
  }

  alignas(64) std::atomic<uint64_t> entries_[1 << kLineBits][kWays];
};

}  // namespace memprof
