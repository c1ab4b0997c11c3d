// LiveMap compared with std::map: every operation has the same result, and in the end both have the
// same blocks.
//
//   input   1 byte: whether glibc says that there is one thread (both paths are tested)
//           6 bytes an operation: which (and how many addresses), the stride, the first address,
//           the size

#include <sys/single_threaded.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "aggregator/tables/live_map.h"

namespace {

using namespace memprof;

constexpr size_t kMostBytes = 200;
constexpr uint64_t kSizes[] = {
    0, 1, 1ull << 20, 1ull << 39, 1ull << 40, (1ull << 40) + 5, (1ull << 47) - 1, 1ull << 47};

struct Operation {
  uint8_t which, stride, first_low, first_high, size, cell;
};

class Both {
 public:
  Both() {
    if (!map_.Init(1 << 12)) std::abort();
  }
  ~Both() { map_.Destroy(); }

  void Insert(uintptr_t address, const Block& block) {
    if (model_.count(address) != 0) return;  // the allocator never gives a live address
    const bool expressible = block.size >> 47 == 0 && address % 8 == 0 && address >> 47 == 0;
    if (map_.Insert(address, block) != expressible) std::abort();
    if (expressible) model_[address] = block;
  }
  void Remove(uintptr_t address) {
    Block block;
    const auto found = model_.find(address);
    if (map_.Remove(address, &block) != (found != model_.end())) std::abort();
    if (found == model_.end()) return;
    if (!(block == found->second)) std::abort();
    model_.erase(found);
  }
  void CheckAll() {
    if (map_.CountForTest() != model_.size()) std::abort();
    while (!model_.empty()) Remove(model_.begin()->first);
    if (map_.CountForTest() != 0) std::abort();
  }

 private:
  LiveMap map_;
  std::map<uintptr_t, Block> model_;
};

// Strides of small blocks, of pages, of arenas, and of no allocator.
uintptr_t StrideOf(uint8_t code) {
  return (code & 0x80) != 0 ? uintptr_t{code & 0x7fu} : uintptr_t{16} << (code % 32);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > kMostBytes) return -1;  // long ones find no more, and slowly
  const char threads = __libc_single_threaded;
  __libc_single_threaded = data[0] % 2 == 1;
  {
    Both both;
    for (size_t at = 1; at + sizeof(Operation) <= size; at += sizeof(Operation)) {
      Operation op;
      std::memcpy(&op, data + at, sizeof op);
      const uintptr_t first = (op.first_low + op.first_high * 256u) * uintptr_t{16};
      const uintptr_t stride = StrideOf(op.stride);
      const uintptr_t addresses = 1 + (op.which >> 3);
      for (uintptr_t i = 0; i < addresses; ++i) {
        const uintptr_t address = first + 16 + i * stride;
        if (op.which % 2 == 1) {
          both.Remove(address);
        } else {
          both.Insert(address, {kSizes[op.size % std::size(kSizes)] + op.cell, op.cell * 65536u});
        }
      }
    }
    both.CheckAll();
  }
  __libc_single_threaded = threads;
  return 0;
}
