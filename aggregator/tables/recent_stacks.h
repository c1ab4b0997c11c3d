// RecentStacks: a thread's last stacks with their cells, so that a repeated stack costs one look.
//
// A program allocates from few places at a time. A capture tells how much of the stack is unchanged
// since the previous capture (a node of the call tree), and the frames that follow. An entry has
// both, in full, with the nodes and the cell that they led to.
//
//   node of the unchanged part | changed frames, root first | their nodes | cell
//
// Thread safety: its thread's only. Memory: 128 bytes an entry, touched as they are used.
// Invariants
//   1. A match is exact: the same node before, the same return addresses after it and the same tag
//      (the function of the allocator). The right cell is a function of these, of the thread's name
//      (Forget when it changes) and of the module generation (a part of the entry).
//   2. A zeroed entry matches nothing: generations begin at 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

class RecentStacks {
 public:
  // The cell of the stack that was just captured into `memory`; writes the nodes into its frames.
  // kNone if it is not known.
  [[gnu::always_inline]] uint32_t Find(StackMemory& memory, const CaptureResult& capture,
                                       uint8_t tag) {
    const uint32_t changed = capture.depth - capture.unchanged;
    if (changed > kMaxChanged) return kNone;
    const Entry& entry = entries_[Place(memory, capture, tag)];
    if (entry.generation != memory.generation || entry.before != Before(memory, capture) ||
        entry.changed != Tagged(changed, tag)) {
      return kNone;
    }
    RememberedFrame* frames = memory.frames + capture.unchanged;
    for (uint32_t i = 0; i < changed; ++i) {
      if (entry.pcs[i] != frames[i].pc) return kNone;
    }
    for (uint32_t i = 0; i < changed; ++i) frames[i].node = entry.nodes[i];
    return entry.cell;
  }

  // `memory`: as for Find, with the nodes noted.
  void Remember(const StackMemory& memory, const CaptureResult& capture, uint8_t tag,
                uint32_t cell) {
    const uint32_t changed = capture.depth - capture.unchanged;
    if (changed > kMaxChanged || memory.depth != capture.depth) return;
    Entry& entry = entries_[Place(memory, capture, tag)];
    entry.generation = memory.generation;
    entry.before = Before(memory, capture);
    entry.changed = Tagged(changed, tag);
    entry.cell = cell;
    const RememberedFrame* frames = memory.frames + capture.unchanged;
    for (uint32_t i = 0; i < changed; ++i) {
      entry.pcs[i] = frames[i].pc;
      entry.nodes[i] = frames[i].node;
    }
  }

  void Forget() {
    for (Entry& entry : entries_) {
      if (entry.generation != 0) entry.generation = 0;
    }
  }

  static constexpr uint32_t kNone = 0xffffffffu;

 private:
  static constexpr uint32_t kMaxChanged = 8;
  static constexpr unsigned kBits = 6;

  struct alignas(64) Entry {
    uint32_t generation;
    uint32_t before;   // the node of the unchanged part
    uint32_t changed;  // number of changed frames, and the tag
    uint32_t cell;
    uintptr_t pcs[kMaxChanged];
    uint32_t nodes[kMaxChanged];
  };
  static_assert(sizeof(Entry) == 128);

  // Stacks whose outer frames are missing start at a row of their own, which takes the place of a
  // node here.
  static uint32_t Before(const StackMemory& memory, const CaptureResult& capture) {
    if (capture.unchanged > 0) return memory.frames[capture.unchanged - 1].node;
    return capture.truncated ? kNone : capture.incomplete ? kNone - 1 : 0;
  }

  static uint32_t Tagged(uint32_t changed, uint8_t tag) { return changed | uint32_t{tag} << 8; }

  static size_t Place(const StackMemory& memory, const CaptureResult& capture, uint8_t tag) {
    uint64_t hash = Before(memory, capture) | uint64_t{tag} << 32;
    for (uint32_t i = capture.unchanged; i < capture.depth; ++i) {
      hash = (hash << 7 | hash >> 57) ^ memory.frames[i].pc;
    }
    return hash * 0x9e3779b97f4a7c15ull >> (64 - kBits);
  }

  Entry entries_[size_t{1} << kBits];
};

}  // namespace memprof
