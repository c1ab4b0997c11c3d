// InheritedHeap: the blocks that a forked child has from its parent. They are only looked up and
// freed. Each such free is booked in the row [inherited at fork], which starts with the bytes of
// the parent's heap (fork/forked_child.h describes how a child begins).
//
// A block's fork generation tells which map has it. State that is carried from one call of the
// tracker to the next (ClaimedBlock) has its generation.
//
// Thread safety: the frees as heap_events.h; the rest by the one thread that starts the child.
#pragma once

#include <cstdint>

#include "aggregator/events/claimed_block.h"
#include "aggregator/tables/live_map.h"

namespace memprof {

class InheritedBlocks;
struct ThreadSlot;

// How often this process's ancestors forked before it, plus 1.
extern constinit uint32_t fork_generation;

inline bool OfThisGeneration(const ClaimedBlock& old) { return old.known == fork_generation; }

// --- the child starts ----------------------------------------------------------------------------

// Turns the blocks of the live maps into inherited ones, and starts new live maps.
void InheritBlocks();
// Makes the row.
void MakeInheritedRow();
// Pre: MakeInheritedRow.
void BookInheritedHeap(uint64_t bytes);

// The inherited blocks of the heap, without those of pools.
const InheritedBlocks& Inherited();

// --- frees ---------------------------------------------------------------------------------------

// `slot` is the calling thread's, as TrackerScope gives it; nullptr: it has none.

// True: `address` was an inherited block, and its free is booked.
bool FreeInherited(ThreadSlot* slot, uintptr_t address);
// The same for a pool's block.
bool FreeInheritedOfPool(ThreadSlot* slot, uintptr_t address);
// Doesn't book: BookInheritedFree does.
bool TakeInherited(uintptr_t address, Block* block);
bool PutBackInherited(uintptr_t address, const Block& block);
// `kept_size` is the live map's form of the size.
void BookInheritedFree(ThreadSlot* slot, uint64_t kept_size);
void BookInheritedFree(uint64_t kept_size);  // outside a TrackerScope

// True if blocks from too many forks ago are forgotten. The free of an unknown block is then
// counted as dropped, since the row [inherited at fork] may still have it.
bool ForgotInherited();

}  // namespace memprof
