#include "core/inspect/object_types.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string_view>
#include <unordered_map>

namespace memprof {
namespace {

constexpr uint64_t kPointer = sizeof(uint64_t);
// So many blocks of each site are looked at, spread over all; fewer where there are many sites.
constexpr uint32_t kMostLookedAt = 16;
constexpr uint32_t kLookedAtInAll = 200'000;
// The memory is the program's, and may be made to have names without an end.
constexpr size_t kLongestTypeName = 1024;

class ObjectTypes {
 public:
  ObjectTypes(const MemorySource& files, const std::vector<AddressRange>& modules)
      : files_(files), modules_(modules) {}

  // The type's name for objects that begin with this word; empty: it is no vtable.
  const std::string& Of(uint64_t word) {
    static const std::string kNone;
    if (word % kPointer != 0 || !IsInModule(word, kPointer) ||
        !IsInModule(word - kPointer, kPointer)) {
      return kNone;
    }
    const auto [at, is_new] = names_.try_emplace(word);
    if (is_new) at->second = NameBy(word);
    return at->second;
  }

 private:
  uint64_t BytesInModule(uint64_t address) const {
    const auto after =
        std::upper_bound(modules_.begin(), modules_.end(), address,
                         [](uint64_t at, const AddressRange& module) { return at < module.begin; });
    if (after == modules_.begin()) return 0;
    return std::max(address, (after - 1)->end) - address;
  }

  bool IsInModule(uint64_t address, uint64_t bytes) const {
    return BytesInModule(address) >= bytes;
  }

  std::string NameBy(uint64_t vtable) const {
    const uint64_t information = WordAt(files_, vtable - kPointer);
    if (information % kPointer != 0 || !IsInModule(information, 2 * kPointer)) return {};
    // Type information is an object with a vtable, too.
    if (!IsInModule(WordAt(files_, information), kPointer)) return {};
    uint64_t name = WordAt(files_, information + kPointer);
    std::string text;
    std::array<char, 64> part;
    while (text.size() < kLongestTypeName) {
      const uint64_t bytes = std::min<uint64_t>(part.size(), BytesInModule(name));
      if (bytes == 0) return {};
      files_.Read(name, {reinterpret_cast<unsigned char*>(part.data()), bytes});
      const auto end = std::find(part.begin(), part.begin() + static_cast<ptrdiff_t>(bytes), '\0');
      text.append(part.begin(), end);
      if (end != part.begin() + static_cast<ptrdiff_t>(bytes)) return Checked(std::move(text));
      name += bytes;
    }
    return {};
  }

  // gcc marks the names of types that are a unit's own by a star.
  static std::string Checked(std::string name) {
    if (name.starts_with('*')) name.erase(0, 1);
    const bool is_mangled = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '.' || c == '$';
    });
    return is_mangled ? name : std::string();
  }

  const MemorySource& files_;
  const std::vector<AddressRange>& modules_;
  std::unordered_map<uint64_t, std::string> names_;  // by vtable
};

}  // namespace

std::vector<std::string> FindObjectTypes(const MemorySource& memory, const MemorySource& files,
                                         const std::vector<AddressRange>& modules,
                                         const std::vector<LiveBlock>& blocks, uint32_t sites,
                                         const std::function<uint32_t(uint32_t block)>& number_of) {
  const auto count = static_cast<uint32_t>(blocks.size());
  std::vector<uint32_t> all(sites, 0);
  for (uint32_t i = 0; i < count; ++i) ++all[number_of(i)];
  const uint32_t each = std::clamp(kLookedAtInAll / std::max(sites, 1u), 1u, kMostLookedAt);
  ObjectTypes types(files, modules);
  std::minstd_rand random;  // the same at each look
  std::vector<uint32_t> seen(sites, 0);
  std::vector<uint32_t> next(sites, 0);
  std::vector<uint32_t> looked(sites, 0);
  std::vector<std::map<std::string_view, uint32_t>> found(sites);  // names that `types` keeps
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t site = number_of(i);
    if (seen[site]++ != next[site]) continue;
    // Not at even steps: types may take turns.
    const uint32_t step = (all[site] + each - 1) / each;
    next[site] += 1 + static_cast<uint32_t>(random() % (2 * uint64_t{step} - 1));
    ++looked[site];
    if (blocks[i].size < kPointer) continue;
    const std::string& name = types.Of(WordAt(memory, blocks[i].address));
    if (!name.empty()) ++found[site][name];
  }
  std::vector<std::string> names(sites);
  for (uint32_t site = 0; site < sites; ++site) {
    for (const auto& [name, times] : found[site]) {
      if (times >= looked[site] - looked[site] / 4) names[site] = name;
    }
  }
  return names;
}

}  // namespace memprof
