// RuleTable: pc → FrameRule, the cache that makes a frame cost a few nanoseconds.
//
// 4096 lines (one cache line each) of 8 entries of 8 bytes. The line of a pc is its bits 4–15 XOR
// its bits 16–27, the tag is all its other bits except 4–15. The pc can be computed from line and
// tag, so no entry can answer for another pc. The way from one return address to the next is a
// chain of dependent loads, so it is kept short: two shifts, XOR, AND, load, shift, add, load.
//
//   entry   FrameRule : 29 | pc bits 16–46 : 31 | pc bits 0–3 : 4       0: empty
//
// Thread safety: lock-free. An entry is one word: a racing reader sees the old one or the new one,
// and each is right for the pc that it names. Async-signal-safe.
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
    const std::atomic<uint64_t>* line = LineOf(pc);
    const uint64_t tag = TagOf(pc);
    const uint64_t first = line[0].load(std::memory_order_relaxed);
    if (__builtin_expect(IsFor(first, tag), 1)) return RuleOf(first);
    for (uint32_t i = 1; i < kWays; ++i) {
      const uint64_t entry = line[i].load(std::memory_order_relaxed);
      if (IsFor(entry, tag)) return RuleOf(entry);
    }
    return FrameRule();
  }

  // REQUIRES: pc < 2^47, rule is not kNone.
  void Insert(uintptr_t pc, FrameRule rule) {
    std::atomic<uint64_t>* line = LineOf(pc);
    // The newest goes first and the oldest falls out. Entries that a racing insert or Clear changes
    // meanwhile may be lost or kept twice; each remains right for its pc.
    uint64_t moved = (rule.bits() << kTagBits) | TagOf(pc);
    for (uint32_t i = 0; i < kWays && moved != 0; ++i) {
      const uint64_t next = line[i].load(std::memory_order_relaxed);
      line[i].store(moved, std::memory_order_relaxed);
      moved = next;
    }
  }

  // Forgets every rule. Reading pages that were never written doesn't make them resident.
  void Clear() {
    for (auto& entry : entries_) {
      if (entry.load(std::memory_order_relaxed) != 0) entry.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr uint32_t kLineBits = 12;
  static constexpr uint32_t kTagBits = 35;
  static constexpr uint32_t kWays = 8;
  static_assert(kTagBits + FrameRule::kBits == 64);

  static constexpr bool IsFor(uint64_t entry, uint64_t tag) {
    return (entry ^ tag) << FrameRule::kBits == 0;
  }
  static constexpr FrameRule RuleOf(uint64_t entry) { return FrameRule(entry >> kTagBits); }
  static constexpr uint64_t TagOf(uintptr_t pc) { return (pc >> 16 << 4) | (pc & 15); }

  // Computed as the offset of the line, which saves a shift.
  const std::atomic<uint64_t>* LineOf(uintptr_t pc) const {
    constexpr uintptr_t kLineBytes = kWays * sizeof(uint64_t);
    constexpr uintptr_t kMask = ((uintptr_t{1} << kLineBits) - 1) * kLineBytes;
    const uintptr_t offset = ((pc << 2) ^ (pc >> 10)) & kMask;
    return entries_ + offset / sizeof(uint64_t);
  }
  std::atomic<uint64_t>* LineOf(uintptr_t pc) {
    return const_cast<std::atomic<uint64_t>*>(static_cast<const RuleTable*>(this)->LineOf(pc));
  }

  alignas(64) std::atomic<uint64_t> entries_[(1 << kLineBits) * kWays];
};

}  // namespace memprof
