#include "core/symbolizer/unit_lines.h"

#include <algorithm>

namespace memprof {
namespace {

constexpr size_t kMostRows = 1 << 18;  // read through one handle: 10 MiB in libdw

std::vector<std::string> FileNames(Dwarf_Die& unit) {
  std::vector<std::string> names;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0) return names;
  for (size_t i = 0; i < count; ++i) {
    const char* name = dwarf_filesrc(files, i, nullptr, nullptr);
    names.emplace_back(name != nullptr ? name : "");
  }
  return names;
}

}  // namespace

void UnitLines::Add(const Row& row) {
  // The last row at an address counts.
  while (!rows_.empty() && rows_.back().address == row.address) rows_.pop_back();
  if (!rows_.empty() && rows_.back().line == row.line && rows_.back().file == row.file) return;
  rows_.push_back(row);
}

const UnitLines::Row* UnitLines::At(uint64_t address) const {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                      [](uint64_t a, const Row& row) { return a < row.address; });
  if (after == rows_.begin() || after[-1].file == kNone) return nullptr;
  return &after[-1];
}

const std::string& UnitLines::File(uint64_t index) const {
  static const std::string kNoName;
  return index < files_.size() ? files_[index] : kNoName;
}

LineReader::~LineReader() { dwarf_end(dwarf_); }

UnitLines LineReader::Read(Dwarf_Die& unit) {
  UnitLines result;
  if (rows_read_ > kMostRows) {
    dwarf_end(dwarf_);
    dwarf_ = nullptr;
    rows_read_ = 0;
  }
  if (dwarf_ == nullptr) {
    Dwarf* main = dwarf_cu_getdwarf(unit.cu);
    dwarf_ = dwarf_begin_elf(dwarf_getelf(main), DWARF_C_READ, nullptr);
    if (dwarf_ != nullptr) dwarf_setalt(dwarf_, dwarf_getalt(main));
  }
  Dwarf_Die again;
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_ == nullptr || dwarf_offdie(dwarf_, dwarf_dieoffset(&unit), &again) == nullptr ||
      dwarf_getsrclines(&again, &lines, &count) != 0) {
    return result;
  }
  rows_read_ += count;
  result.files_ = FileNames(again);
  for (size_t i = 0; i < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    UnitLines::Row row = {0, 0, UnitLines::kNone};
    bool end = false;
    int number = 0;
    Dwarf_Files* files = nullptr;
    size_t file = 0;
    if (dwarf_lineaddr(line, &row.address) != 0 || dwarf_lineendsequence(line, &end) != 0) continue;
    if (!end) {
      const bool known = dwarf_line_file(line, &files, &file) == 0 && file < UnitLines::kNone - 1;
      row.file = known ? static_cast<uint32_t>(file) : UnitLines::kNone - 1;
      if (dwarf_lineno(line, &number) == 0 && number > 0) row.line = static_cast<uint32_t>(number);
    }
    result.Add(row);
  }
  result.rows_.shrink_to_fit();
  return result;
}

}  // namespace memprof
