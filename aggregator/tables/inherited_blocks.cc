#include "aggregator/tables/inherited_blocks.h"

namespace memprof {

void InheritedBlocks::Push(LiveMap& live) {
  if (count_ == kGenerations) {
    maps_[0].Destroy();
    for (uint32_t i = 1; i < kGenerations; ++i) maps_[i - 1].TakeOver(maps_[i]);
    --count_;
    forgot_ = true;
  }
  maps_[count_++].TakeOver(live);
}

bool InheritedBlocks::Take(uintptr_t address, Block* block) {
  for (uint32_t i = count_; i-- > 0;) {
    if (maps_[i].Remove(address, block)) return true;
  }
  return false;
}

bool InheritedBlocks::PutBack(uintptr_t address, const Block& block) {
  return count_ != 0 && maps_[count_ - 1].Insert(address, block);
}

}  // namespace memprof
