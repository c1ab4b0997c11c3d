// Memory that a test writes, word by word. All other bytes are 0.
//
// Thread safety: as MemorySource, once it is written.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include "core/inspect/memory_source.h"

namespace memprof {

class MadeMemory : public MemorySource {
 public:
  // `address` is a multiple of 8.
  void Write(uint64_t address, uint64_t word) { words_[address] = word; }

  void Read(uint64_t address, std::span<unsigned char> to) const override {
    std::memset(to.data(), 0, to.size());
    const uint64_t first = address >= 7 ? address - 7 : 0;
    for (auto at = words_.lower_bound(first); at != words_.end() && at->first < address + to.size();
         ++at) {
      for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t byte = at->first + i;
        if (byte < address || byte >= address + to.size()) continue;
        to[byte - address] = static_cast<unsigned char>(at->second >> 8 * i);
      }
    }
  }

 private:
  std::map<uint64_t, uint64_t> words_;
};

}  // namespace memprof
