#include "formats/jemalloc_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "core/protocol/sample_weight.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

constexpr std::string_view kMagic = "heap_v2/";

// Takes words and numbers off the front of a line.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  std::string_view rest() const { return text_; }
  void SkipSpaces() { text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size())); }
  bool Skip(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool Number(uint64_t& value, int base = 10) {
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), value, base);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }

 private:
  std::string_view text_;
};

// The estimate for `blocks` samples of `bytes` bytes together.
Count Estimate(uint64_t blocks, uint64_t bytes, uint64_t sample_bytes) {
  if (blocks == 0) return {};
  const double mean = static_cast<double>(bytes) / static_cast<double>(blocks);
  const double share = OneMinusExp(mean / static_cast<double>(sample_bytes));
  const auto whole = [&](uint64_t count) {
    // Blocks without bytes allow no estimate; sums must not overflow, whatever the file says.
    const double value =
        share > 0 ? static_cast<double>(count) / share : static_cast<double>(count);
    return static_cast<uint64_t>(std::min(value + 0.5, 0x1p53));
  };
  return {whole(bytes), whole(blocks)};
}

// Reads "t*: 43: 4816 [43: 4816]"; false for any other line.
bool ReadCounts(Line line, uint64_t sample_bytes, JemallocStack& stack) {
  uint64_t blocks = 0, bytes = 0, all_blocks = 0, all_bytes = 0;
  const bool read = line.Skip("t*: ") && line.Number(blocks) && line.Skip(": ") &&
                    line.Number(bytes) && line.Skip(" [") && line.Number(all_blocks) &&
                    line.Skip(": ") && line.Number(all_bytes) && line.Skip("]");
  if (!read) return false;
  stack.live = Estimate(blocks, bytes, sample_bytes);
  stack.total = Estimate(all_blocks, all_bytes, sample_bytes);
  stack.total.bytes = std::max(stack.total.bytes, stack.live.bytes);
  stack.total.allocations = std::max(stack.total.allocations, stack.live.allocations);
  return true;
}

// " 0x7f6bd88a2630 0x55625b1b9169"
bool ReadAddresses(Line line, JemallocStack& stack) {
  for (line.SkipSpaces(); !line.rest().empty(); line.SkipSpaces()) {
    uint64_t address = 0;
    if (!line.Skip("0x") || !line.Number(address, 16)) return false;
    if (stack.addresses.size() < kMaxJemallocFrames) stack.addresses.push_back(address);
  }
  return true;
}

}  // namespace

Result<JemallocProfile> ReadJemallocProfile(std::string_view text) {
  JemallocProfile profile;
  size_t number = 0;
  const auto next = [&]() -> Line {
    const size_t end = std::min(text.find('\n'), text.size());
    const Line line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    return line;
  };
  const auto fail = [&](const char* what) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("line {} of jemalloc's profile is no {}", number, what));
  };
  Line first = next();
  if (!first.Skip(kMagic) || !first.Number(profile.sample_bytes) || profile.sample_bytes == 0 ||
      profile.sample_bytes > kMaxSampleBytes || !first.rest().empty()) {
    return fail("heap_v2/BYTES");
  }
  bool of_stack = false;  // the current lines belong to the last stack
  bool counted = true;    // the last stack has its counts
  while (!text.empty()) {
    Line line = next();
    if (line.rest().starts_with("MAPPED_LIBRARIES")) break;
    if (line.Skip("@")) {
      if (!counted) return fail("count of the stack before");
      profile.stacks.emplace_back();
      of_stack = true;
      counted = false;
      if (!ReadAddresses(line, profile.stacks.back())) return fail("stack of addresses");
      continue;
    }
    line.SkipSpaces();
    if (!of_stack || counted || !line.rest().starts_with("t*: ")) continue;
    if (!ReadCounts(line, profile.sample_bytes, profile.stacks.back())) return fail("count");
    counted = true;
  }
  if (!counted) return fail("count of the last stack");
  while (!text.empty()) {
    const auto mapping = ParseMappingLine(next().rest());
    if (!mapping || mapping->name.empty()) continue;
    profile.mappings.push_back(
        {mapping->start, mapping->end, mapping->offset, std::string(mapping->name)});
  }
  return profile;
}

}  // namespace memprof
