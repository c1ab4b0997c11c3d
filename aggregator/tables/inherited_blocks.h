// InheritedBlocks: the blocks that a forked child had from its parent: address → size. It has the
// live maps as they were at the fork, followed by those of the parent's own parent. Nothing is
// walked or copied.
//
//   child's live map        blocks of its own
//   newest inherited map    its parent's own, as they were at the fork
//   …                       the grandparent's that the parent had
//   oldest                  kGenerations back. Older blocks are forgotten: freeing one is an
//                           unknown free, and counted as dropped
//
// Thread safety: Take and PutBack by any thread, as LiveMap's Remove and Insert, whatever threads
// of the parent left in the middle; Push when nobody else uses it.
#pragma once

#include <cstdint>

#include "aggregator/tables/live_map.h"

namespace memprof {

class InheritedBlocks {
 public:
  // The blocks of `live` are inherited from now on; `live` becomes as before Init.
  void Push(LiveMap& live);

  bool empty() const { return count_ == 0; }
  // An older map was dropped: an unknown block may have been in it.
  bool forgot() const { return forgot_; }

  // One after the other, the oldest first.
  const LiveMap* maps() const { return maps_; }
  uint32_t count() const { return count_; }

  // True: it was an inherited block, and is removed.
  bool Take(uintptr_t address, Block* block);
  // Pre: Take returned it. False: there is no room.
  bool PutBack(uintptr_t address, const Block& block);

 private:
  static constexpr uint32_t kGenerations = 16;

  LiveMap maps_[kGenerations];  // the newest is last
  uint32_t count_ = 0;
  bool forgot_ = false;
};

}  // namespace memprof
