#include "cli/inspect/root_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "core/base_name.h"
#include "core/symbolizer/demangle.h"

namespace memprof {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);
constexpr uint64_t kRedZone = 128;             // below the stack pointer, x86-64's ABI
constexpr uint64_t kArenaBytes = 64ull << 20;  // glibc's HEAP_MAX_SIZE, by which arenas are aligned
constexpr uint64_t kThreadBlockBytes = 4096;   // at most, glibc's struct pthread
constexpr uint64_t kStaticTlsBytes = 65536;    // more than that of programs before main()

// glibc's struct malloc_state, version 2.27 and later.
constexpr uint64_t kBinsOffset = 0x70;
constexpr uint64_t kBins = 127;
constexpr uint64_t kNextOffset = 0x870;
constexpr uint64_t kSystemMemOffset = 0x888;
constexpr uint64_t kArenaStateBytes = 0x898;
constexpr uint64_t kLeastEmptyBins = 32;

// Ranges of addresses that nothing else may be in.
class RangeSet {
 public:
  void Add(const AddressRange& range) {
    if (range.begin >= range.end) return;
    for (const AddressRange& part : Without(range)) ranges_[part.begin] = part.end;
  }

  // The parts of `range` that aren't in the set.
  std::vector<AddressRange> Without(const AddressRange& range) const {
    std::vector<AddressRange> parts;
    uint64_t at = range.begin;
    auto next = ranges_.upper_bound(at);
    if (next != ranges_.begin()) at = std::max(at, std::prev(next)->second);
    for (; next != ranges_.end() && next->first < range.end; ++next) {
      if (at < next->first) parts.push_back({at, next->first});
      at = std::max(at, next->second);
    }
    if (at < range.end) parts.push_back({at, range.end});
    return parts;
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin to end, disjoint
};

class RootFinder {
 public:
  RootFinder(const RootFacts& facts, const MemorySource& memory) : facts_(facts), memory_(memory) {}

  std::vector<Root> Find() {
    LeaveOutTrackersAndAllocators();
    for (const FrozenThread& thread : facts_.threads) AddThread(thread);
    for (const AddressRange& range : below_stacks_) left_out_.Add(range);
    AddEndedThreads();
    for (const SpaceMapping& mapping : facts_.mappings) {
      if (mapping.name == "[stack]" && !main_stack_is_known_) {
        Add("stack of the main thread", {mapping.range});
      }
    }
    for (const SpaceModule& module : facts_.modules) {
      const bool is_program = module.path == facts_.executable;
      const std::string name(is_program ? std::string_view(facts_.program) : BaseName(module.path));
      for (const AddressRange& range : module.data) AddVariables(module, name, range);
      Add(fmt::format("data of {}", name), module.data);
    }
    std::vector<AddressRange> mapped;
    for (const AddressRange& range : facts_.mapped) {
      auto mapping = std::lower_bound(
          facts_.mappings.begin(), facts_.mappings.end(), range.begin,
          [](const SpaceMapping& one, uint64_t begin) { return one.range.end <= begin; });
      for (; mapping != facts_.mappings.end() && mapping->range.begin < range.end; ++mapping) {
        if (mapping->shared) continue;  // others may have been filled and sealed
        mapped.push_back(
            {std::max(range.begin, mapping->range.begin), std::min(range.end, mapping->range.end)});
      }
    }
    Add("memory that the program mapped", mapped);
    if (facts_.allocator.empty()) AddOtherMemory();
    return std::move(roots_);
  }

 private:
  static bool HasNoFile(const SpaceMapping& mapping) {
    return !mapping.shared && (mapping.name.empty() || mapping.name.starts_with("[anon"));
  }
  static bool IsAnonymous(const SpaceMapping& mapping) {
    return HasNoFile(mapping) && mapping.readable && mapping.writable;
  }

  void Add(const std::string& name, const std::vector<AddressRange>& ranges,
           std::vector<uint64_t> words = {}) {
    Root root = {name, {}, std::move(words)};
    for (const AddressRange& range : ranges) {
      for (const AddressRange& part : left_out_.Without(range)) root.ranges.push_back(part);
      left_out_.Add(range);
    }
    if (!root.ranges.empty() || !root.words.empty()) roots_.push_back(std::move(root));
  }

  // The module's variables in a range of its data.
  void AddVariables(const SpaceModule& module, const std::string& name, const AddressRange& data) {
    constexpr uint64_t kMostData = 1u << 30;
    auto symbol = std::lower_bound(
        module.symbols.begin(), module.symbols.end(), data.begin,
        [](const DataSymbol& one, uint64_t begin) { return one.range.begin < begin; });
    if (symbol == module.symbols.end() || data.end - data.begin > kMostData) return;
    std::vector<uint64_t> words((data.end - data.begin) / kWord);
    memory_.Read(data.begin,
                 {reinterpret_cast<unsigned char*>(words.data()), words.size() * kWord});
    for (; symbol != module.symbols.end() && symbol->range.end <= data.end; ++symbol) {
      const auto first = (symbol->range.begin - data.begin + kWord - 1) / kWord;
      const auto last = (symbol->range.end - data.begin) / kWord;
      if (first >= last || last > words.size()) continue;
      const auto points = [this](uint64_t word) {
        return word >= facts_.blocks.begin && word < facts_.blocks.end;
      };
      const auto at = words.begin() + static_cast<ptrdiff_t>(first);
      if (std::none_of(at, words.begin() + static_cast<ptrdiff_t>(last), points)) continue;
      Add(fmt::format("{} ({}, {})", Demangle(symbol->name.c_str()), name, symbol->section),
          {symbol->range});
    }
  }

  const SpaceMapping* MappingAt(uint64_t address) const {
    const auto after = std::upper_bound(
        facts_.mappings.begin(), facts_.mappings.end(), address,
        [](uint64_t at, const SpaceMapping& mapping) { return at < mapping.range.begin; });
    if (after == facts_.mappings.begin()) return nullptr;
    return address < (after - 1)->range.end ? &*(after - 1) : nullptr;
  }

  bool IsMapped(uint64_t address) const {
    return std::any_of(facts_.mapped.begin(), facts_.mapped.end(), [=](const AddressRange& range) {
      return address >= range.begin && address < range.end;
    });
  }

  // The bytes of the variable at an address of data; from the address on if it isn't known.
  AddressRange VariableAt(uint64_t address) const {
    for (const SpaceModule& module : facts_.modules) {
      const auto after =
          std::upper_bound(module.symbols.begin(), module.symbols.end(), address,
                           [](uint64_t at, const DataSymbol& one) { return at < one.range.begin; });
      if (after != module.symbols.begin() && address < (after - 1)->range.end) {
        return (after - 1)->range;
      }
    }
    return {address, ~uint64_t{0}};
  }

  bool IsData(uint64_t address) const {
    return std::any_of(facts_.modules.begin(), facts_.modules.end(), [=](const SpaceModule& one) {
      return std::any_of(one.data.begin(), one.data.end(), [=](const AddressRange& range) {
        return address >= range.begin && address < range.end;
      });
    });
  }

  void LeaveOutTrackersAndAllocators() {
    RangeSet mapped;
    for (const AddressRange& range : facts_.mapped) mapped.Add(range);
    for (const SpaceMapping& mapping : facts_.mappings) {
      const bool is_trackers = mapping.like_trackers && IsAnonymous(mapping);
      const bool is_heap = mapping.name == "[heap]";
      if (!is_trackers && !is_heap) continue;
      for (const AddressRange& part : mapped.Without(mapping.range)) left_out_.Add(part);
    }
    for (const SpaceModule& module : facts_.modules) {
      const std::string_view name = BaseName(module.path);
      if (name.starts_with("libmemprof_") || module.path == facts_.allocator) {
        for (const AddressRange& data : module.data) left_out_.Add(data);
      } else if (name.starts_with("libc.so.6")) {
        for (const AddressRange& data : module.data) left_out_.Add(FindMainArena(data, memory_));
      }
    }
    for (const FrozenThread& thread : facts_.threads) {
      const uint64_t state = thread.thread_pointer + static_cast<uint64_t>(facts_.thread_state);
      if (thread.thread_pointer != 0) left_out_.Add({state, state + facts_.thread_state_bytes});
    }
    if (!facts_.allocator.empty()) return;
    for (const SpaceMapping& mapping : facts_.mappings) {
      if (!IsAnonymous(mapping)) continue;
      for (uint64_t at = (mapping.range.begin + kArenaBytes - 1) / kArenaBytes * kArenaBytes;
           at < mapping.range.end; at += kArenaBytes) {
        // A heap of an arena begins with the address of its arena, which lies in such a heap.
        const uint64_t arena = WordAt(memory_, at);
        const SpaceMapping* there = MappingAt(arena);
        if (arena % kArenaBytes == 0 || arena % kArenaBytes >= kPage || there == nullptr ||
            !IsAnonymous(*there)) {
          continue;
        }
        const AddressRange heap = {at, std::min(mapping.range.end, at + kArenaBytes)};
        for (const AddressRange& part : mapped.Without(heap)) left_out_.Add(part);
      }
    }
  }

  void AddThread(const FrozenThread& thread) {
    std::vector<AddressRange> ranges;
    const SpaceMapping* stack = MappingAt(thread.stack_pointer);
    const SpaceMapping* local = MappingAt(thread.thread_pointer);
    const bool on_main_stack = stack != nullptr && stack->name == "[stack]";
    const uint64_t from = thread.stack_pointer - std::min(kRedZone, thread.stack_pointer);
    if (local != nullptr && IsAnonymous(*local)) {
      const uint64_t end = std::min(
          local->range.end, (thread.thread_pointer + kThreadBlockBytes) / kPage * kPage + kPage);
      if (local == stack && from < thread.thread_pointer) {
        // Beside a stack that is a variable are others.
        const AddressRange within = IsData(from) ? VariableAt(from) : local->range;
        ranges.push_back({std::max(from, within.begin), std::min(end, within.end)});
        // Below one that the program mapped may be other things.
        if (!IsMapped(from) && within.begin < from) below_stacks_.push_back({within.begin, from});
      } else {  // the main thread, or one on a stack that the program made
        const uint64_t begin =
            on_main_stack ? thread.thread_pointer - std::min(kStaticTlsBytes, thread.thread_pointer)
                          : 0;
        ranges.push_back({std::max(begin, local->range.begin), end});
      }
    }
    if (on_main_stack) {
      ranges.push_back({std::max(from, stack->range.begin), stack->range.end});
      main_stack_is_known_ = true;
    }
    Add(fmt::format("stack of thread {}", thread.name), ranges);
    Add(fmt::format("registers of thread {}", thread.name), {}, thread.registers);
  }

  // Memory that nobody is known to have made: by libc, by the loader, by system calls of the program.
  void AddOtherMemory() {
    std::vector<AddressRange> ranges;
    for (const SpaceMapping& mapping : facts_.mappings) {
      // Also what may not be written any more: it may have been filled before.
      if (HasNoFile(mapping) && mapping.readable) ranges.push_back(mapping.range);
    }
    Add("other memory", ranges);
  }

  // glibc keeps the stacks of threads that have ended. Only the struct pthread at their end counts: it
  // holds a block of the loader's.
  void AddEndedThreads() {
    std::vector<AddressRange> ranges;
    for (size_t i = 1; i < facts_.mappings.size(); ++i) {
      const SpaceMapping& mapping = facts_.mappings[i];
      const SpaceMapping& before = facts_.mappings[i - 1];
      const bool has_guard = !before.readable && before.range.end == mapping.range.begin;
      if (!has_guard || !IsAnonymous(mapping)) continue;
      const uint64_t thread = EndedThreadOn(mapping.range);
      if (thread == 0) continue;
      left_out_.Add({mapping.range.begin, thread});
      ranges.push_back({thread, mapping.range.end});
    }
    Add("ended threads", ranges);
  }

  // The struct pthread has its own address in two places. 0: there is none, or a thread has it.
  uint64_t EndedThreadOn(const AddressRange& range) const {
    const uint64_t begin = std::max(range.begin, range.end - std::min(range.end, 2 * kPage));
    std::vector<uint64_t> words((range.end - begin) / kWord);
    memory_.Read(begin, {reinterpret_cast<unsigned char*>(words.data()), words.size() * kWord});
    for (size_t i = 0; i + 2 < words.size(); ++i) {
      const uint64_t address = begin + i * kWord;
      if (words[i] != address || words[i + 2] != address) continue;
      const bool is_alive = std::any_of(
          facts_.threads.begin(), facts_.threads.end(),
          [address](const FrozenThread& thread) { return thread.thread_pointer == address; });
      return is_alive ? 0 : address;
    }
    return 0;
  }

  const RootFacts& facts_;
  const MemorySource& memory_;
  RangeSet left_out_;                       // and what is a root already
  std::vector<AddressRange> below_stacks_;  // of living threads
  bool main_stack_is_known_ = false;
  std::vector<Root> roots_;
};

}  // namespace

AddressRange FindMainArena(const AddressRange& data, const MemorySource& memory) {
  constexpr uint64_t kMostData = 4u << 20;
  if (data.begin >= data.end || data.begin % kWord != 0 || data.end - data.begin > kMostData)
    return {};
  std::vector<uint64_t> words((data.end - data.begin) / kWord);
  memory.Read(data.begin, {reinterpret_cast<unsigned char*>(words.data()), words.size() * kWord});
  const auto is_empty_bin = [&](size_t i) {
    return i + 1 < words.size() && words[i] == data.begin + i * kWord - 2 * kWord &&
           words[i + 1] == words[i];
  };
  for (size_t i = 0; i < words.size(); ++i) {
    if (!is_empty_bin(i)) continue;
    // This may be any of its lists.
    for (uint64_t bin = 0; bin < kBins; ++bin) {
      const uint64_t before = kBinsOffset / kWord + 2 * bin;
      if (before > i) break;
      const size_t base = i - before;
      if (base + kArenaStateBytes / kWord > words.size()) continue;
      const uint64_t address = data.begin + base * kWord;
      // The list of arenas goes back to this one, if there is no other.
      const uint64_t next = words[base + kNextOffset / kWord];
      const uint64_t in_heap = next % kArenaBytes;
      if (next != address && (in_heap == 0 || in_heap >= kPage)) continue;
      const uint64_t system = words[base + kSystemMemOffset / kWord];
      const uint64_t most = words[base + kSystemMemOffset / kWord + 1];
      if (system == 0 || system % kPage != 0 || most < system) continue;
      uint64_t empty = 0;
      for (uint64_t k = 0; k < kBins; ++k)
        empty += is_empty_bin(base + kBinsOffset / kWord + 2 * k);
      if (empty >= kLeastEmptyBins) return {address, address + kArenaStateBytes};
    }
  }
  return {};
}

std::vector<Root> FindRoots(const RootFacts& facts, const MemorySource& memory) {
  return RootFinder(facts, memory).Find();
}

}  // namespace memprof
