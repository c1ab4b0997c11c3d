#include "core/inspect/heap_graph.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace memprof {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);
constexpr uint64_t kWindowBytes = uint64_t{1} << 20;

// Reads ranges that come in ascending order, many small ones at once.
class Window {
 public:
  explicit Window(const MemorySource& memory) : memory_(memory), bytes_(kWindowBytes) {}

  // At most kWindowBytes from `address` on. `last`: nothing beyond will be asked for.
  const unsigned char* At(uint64_t address, uint64_t bytes, uint64_t last) {
    if (address < begin_ || address + bytes > end_) {
      begin_ = address;
      end_ = std::max(address + bytes, std::min(address + kWindowBytes, last));
      memory_.Read(begin_, {bytes_.data(), end_ - begin_});
    }
    return bytes_.data() + (address - begin_);
  }

 private:
  const MemorySource& memory_;
  std::vector<unsigned char> bytes_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

// The pointers of some nodes, one node after the other.
struct Pointers {
  std::vector<uint32_t> counts;
  std::vector<uint32_t> targets;
  uint64_t words = 0;
};

class Scanner {
 public:
  Scanner(const MemorySource& memory, std::span<const LiveBlock> blocks, const BlockIndex& index)
      : memory_(memory), blocks_(blocks), index_(index), window_(memory) {}

  void ScanBlocks(uint32_t from, uint32_t to) {
    if (from == to) return;
    const uint64_t last = EndOf(blocks_[to - 1]);
    for (uint32_t i = from; i < to; ++i) {
      Begin(i);
      ScanBytes(blocks_[i].address, blocks_[i].address + blocks_[i].size, last);
      End();
    }
  }

  void ScanRoot(const Root& root) {
    Begin(kNoBlock);
    for (const uint64_t word : root.words) LookUp(word);
    for (const AddressRange& range : root.ranges) {
      uint64_t at = range.begin;
      uint32_t block = index_.FirstFrom(at);
      if (block != 0) at = std::max(at, EndOf(blocks_[block - 1]));
      for (; block < blocks_.size() && blocks_[block].address < range.end; ++block) {
        ScanBytes(at, blocks_[block].address, range.end);
        at = std::max(at, EndOf(blocks_[block]));
      }
      ScanBytes(at, range.end, range.end);
    }
    End();
  }

  Pointers Take() && { return std::move(pointers_); }

 private:
  void Begin(uint32_t self) {
    self_ = previous_ = self;
    targets_before_ = pointers_.targets.size();
  }
  void End() {
    pointers_.counts.push_back(static_cast<uint32_t>(pointers_.targets.size() - targets_before_));
  }

  void LookUp(uint64_t word) {
    ++pointers_.words;
    const uint32_t target = index_.Find(word);
    if (target == kNoBlock || target == previous_ || target == self_) return;
    previous_ = target;
    pointers_.targets.push_back(target);
  }

  void ScanBytes(uint64_t begin, uint64_t end, uint64_t last) {
    begin = (begin + kWord - 1) / kWord * kWord;
    while (begin < end && end - begin >= kWord) {
      if (end - begin > kWindowBytes) {
        begin = (memory_.SkipZeros(begin, end) + kWord - 1) / kWord * kWord;
        if (begin >= end || end - begin < kWord) return;
      }
      const uint64_t bytes = std::min(end - begin, kWindowBytes) / kWord * kWord;
      const unsigned char* at = window_.At(begin, bytes, last);
      for (uint64_t done = 0; done < bytes; done += kWord) {
        uint64_t word;
        std::memcpy(&word, at + done, kWord);
        LookUp(word);
      }
      begin += bytes;
    }
  }

  const MemorySource& memory_;
  std::span<const LiveBlock> blocks_;
  const BlockIndex& index_;
  Window window_;
  Pointers pointers_;
  uint32_t self_ = kNoBlock;
  uint32_t previous_ = kNoBlock;
  size_t targets_before_ = 0;
};

// Shares the blocks out by their bytes. The last bound is their number.
std::vector<uint32_t> Shares(std::span<const LiveBlock> blocks, unsigned threads) {
  uint64_t all = 0;
  for (const LiveBlock& block : blocks) all += block.size / threads + 1;
  std::vector<uint32_t> bounds = {0};
  uint64_t sum = 0;
  for (uint32_t i = 0; i < blocks.size() && bounds.size() < threads; ++i) {
    sum += blocks[i].size / threads + 1;
    if (sum >= all / threads * bounds.size()) bounds.push_back(i + 1);
  }
  bounds.push_back(static_cast<uint32_t>(blocks.size()));
  return bounds;
}

}  // namespace

HeapGraph BuildGraph(const MemorySource& memory, std::span<const LiveBlock> blocks,
                     const std::vector<Root>& roots, unsigned threads) {
  const BlockIndex index(blocks);
  const std::vector<uint32_t> bounds = Shares(blocks, threads);
  std::vector<Pointers> parts(bounds.size());
  const auto scan = [&](size_t part) {
    Scanner scanner(memory, blocks, index);
    if (part + 1 < bounds.size()) {
      scanner.ScanBlocks(bounds[part], bounds[part + 1]);
    } else {
      for (const Root& root : roots) scanner.ScanRoot(root);
    }
    parts[part] = std::move(scanner).Take();
  };
  std::vector<std::thread> others;
  for (size_t part = 1; part + 1 < bounds.size(); ++part) others.emplace_back(scan, part);
  scan(0);
  for (std::thread& other : others) other.join();
  scan(bounds.size() - 1);  // the roots

  HeapGraph graph;
  graph.blocks = static_cast<uint32_t>(blocks.size());
  graph.roots = static_cast<uint32_t>(roots.size());
  graph.first.reserve(size_t{graph.nodes()} + 1);
  graph.first.push_back(0);
  size_t all = 0;
  for (const Pointers& part : parts) all += part.targets.size();
  graph.targets.reserve(all);
  for (Pointers& part : parts) {
    for (const uint32_t count : part.counts) graph.first.push_back(graph.first.back() + count);
    graph.targets.insert(graph.targets.end(), part.targets.begin(), part.targets.end());
    graph.words += part.words;
    part = {};
  }
  return graph;
}

}  // namespace memprof
