#include "core/region/mapping_line.h"

#include <algorithm>
#include <charconv>

namespace memprof {
namespace {

// The Take functions remove what they read from the front of the text.
bool TakeNumber(std::string_view& text, int base, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool TakeBlanks(std::string_view& text) {
  if (!text.starts_with(' ')) return text.empty();
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return true;
}

std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::optional<MappingLine> ParseMappingLine(std::string_view line) {
  MappingLine mapping;
  if (!TakeNumber(line, 16, mapping.start) || !line.starts_with('-')) return std::nullopt;
  line.remove_prefix(1);
  if (!TakeNumber(line, 16, mapping.end) || mapping.end <= mapping.start || !TakeBlanks(line)) {
    return std::nullopt;
  }
  mapping.permissions = TakeWord(line);
  if (!TakeBlanks(line) || !TakeNumber(line, 16, mapping.offset) || !TakeBlanks(line)) {
    return std::nullopt;
  }
  mapping.device = TakeWord(line);
  if (!TakeBlanks(line) || !TakeNumber(line, 10, mapping.inode) || !TakeBlanks(line)) {
    return std::nullopt;
  }
  mapping.name = line;
  return mapping;
}

}  // namespace memprof
