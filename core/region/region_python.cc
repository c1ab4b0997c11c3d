#include "core/region/region_python.h"

#include <algorithm>
#include <string_view>

#include "core/once.h"

namespace memprof {
namespace {

constexpr uint64_t kMostBytes = 1 << 27;

}  // namespace

SnapshotFrame RegionPython::FrameOf(uint64_t word) {
  const Function& function = FunctionOf(PythonCodeOf(word));
  return {kNoModule,
          PythonOffset(function.index, function.lines.LineOf(PythonInstructionOf(word)))};
}

const RegionPython::Function& RegionPython::FunctionOf(uint32_t code) {
  const auto [at, fresh] = functions_.try_emplace(code);
  Function& function = at->second;
  if (!fresh) return function;
  function.index = static_cast<uint32_t>(snapshot_.python.size());
  SnapshotPythonFunction& named = snapshot_.python.emplace_back();
  named.function = "?";
  const auto* records = region_.Records<PythonCodeRecord>(Table::kPythonCodes);
  if (code >= region_.count(Table::kPythonCodes) ||
      records[code].filled.load(std::memory_order_acquire) != 1) {
    return function;
  }
  const PythonCodeRecord& record = records[code];
  const char* const bytes = region_.Records<char>(Table::kPythonBytes);
  const uint64_t all = region_.count(Table::kPythonBytes);
  const auto text = [&](uint32_t offset, uint32_t count, uint32_t most) -> std::string_view {
    count = std::min(count, most);
    if (offset > all || count > all - offset || count > kMostBytes - bytes_) return {};
    bytes_ += count;
    return {bytes + offset, count};
  };
  const auto first_line = Once(record.first_line);
  const uint32_t lines = Once(record.lines);
  named.file = text(Once(record.file_offset), Once(record.file_bytes), kLongestPythonFile);
  const std::string_view name =
      text(Once(record.name_offset), Once(record.name_bytes), kLongestPythonName);
  if (!name.empty()) named.function = name;
  named.first_line = first_line > 0 ? static_cast<uint32_t>(first_line) : 0;
  function.lines = PythonLineTable(
      lines < kPythonLinesKinds ? static_cast<PythonLines>(lines) : PythonLines::kNone,
      text(Once(record.lines_offset), Once(record.lines_bytes), kLongestPythonLines), first_line);
  return function;
}

}  // namespace memprof
