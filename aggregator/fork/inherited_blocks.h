// InheritedBlocks: what a forked child had from its parent: address → size. The live maps as they
// were at the fork, those of the parent's own parent behind it; nothing is walked or copied.
//
//   child's live map        blocks of its own
//   newest inherited map    its parent's own, as they were at the fork
//   …                       the grandparent's that the parent had
//   oldest                  kGenerations back; what is older is forgotten: freeing it is an
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
  // What `live` has is of before the fork from now on; `live` is as before Init.
  void Push(LiveMap& live);

  bool empty() const { return count_ == 0; }
  // An older map is gone: a block that nobody knows may have been in it.
  bool forgot() const { return forgot_; }

  // True: it was one, and is none any more.
  bool Take(uintptr_t address, Block* block);
  // Pre: Take gave it. False: there is no room.
  bool PutBack(uintptr_t address, const Block& block);

 private:
  static constexpr uint32_t kGenerations = 16;

  LiveMap maps_[kGenerations];  // the newest is the last
  uint32_t count_ = 0;
  bool forgot_ = false;
};

}  // namespace memprof
