#include "cli/terminal/row_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/snapshot/sampling.h"
#include "core/units.h"

namespace memprof {

RowTable::RowTable(const char* figure, uint64_t whole_bytes, bool estimates, const TextStyle& style)
    : whole_bytes_(whole_bytes),
      style_(style),
      headings_{estimates ? std::string("≈ ") + figure : figure,
                "share",
                estimates ? "≈ blocks" : "blocks",
                estimates ? "≈ total" : "total",
                "function",
                "place",
                "module"} {}

void RowTable::Add(const Count& figure, uint64_t error_bytes, const Count& total,
                   const std::string& function, const std::string& place,
                   const std::string& module) {
  rows_.push_back({FormatBytesWithError(figure.bytes, error_bytes),
                   FormatShare(figure.bytes, whole_bytes_), FormatCount(figure.allocations),
                   FormatBytes(total.bytes), function, place, module});
}

void RowTable::LayOut(bool modules) {
  constexpr size_t kLeastNames = 24;
  constexpr size_t kLeastWithModules = 80;
  bytes_ = Widest(&Cells::bytes);
  share_ = Widest(&Cells::share);
  count_ = Widest(&Cells::count);
  total_ = Widest(&Cells::total);
  indent_ = bytes_ + share_ + count_ + total_ + 8;
  names_ = style_.width > indent_ + kLeastNames ? style_.width - indent_ : kLeastNames;
  size_t left = names_;
  if (modules && left >= kLeastWithModules) {
    module_ = std::min(Widest(&Cells::module), left / 4);
    left -= module_ + 2;
  }
  place_ = std::min(Widest(&Cells::place), left / 2);
  function_ = std::min(Widest(&Cells::function), left - place_ - 2);
}

std::string RowTable::Text(const Cells& cells) const {
  // Padded, and cut for the columns behind, only where something follows in the line.
  const bool alone = IsAlone(cells);
  const std::string function = Shortened(cells.function, alone ? names_ : function_);
  const std::string place = ShortenedFront(cells.place, place_);
  const std::string module = Shortened(cells.module, module_);
  std::string text = fmt::format("{}  {}  {}  {}  ", PaddedLeft(cells.bytes, bytes_),
                                 PaddedLeft(cells.share, share_), PaddedLeft(cells.count, count_),
                                 PaddedLeft(cells.total, total_));
  text += &cells == &headings_ ? function : Bold(function, style_);
  if (!alone) text += std::string(function_ - Columns(function) + 2, ' ') + place;
  if (!module.empty()) text += std::string(place_ - Columns(place) + 2, ' ') + module;
  return text;
}

bool RowTable::IsAlone(const Cells& cells) const {
  return cells.place.empty() && (module_ == 0 || cells.module.empty());
}

size_t RowTable::Widest(std::string Cells::*column) const {
  size_t widest = Columns(headings_.*column);
  for (const Cells& row : rows_) {
    // "others (12 places)" and its like reach into the columns behind.
    if (column == &Cells::function && IsAlone(row)) continue;
    widest = std::max(widest, Columns(row.*column));
  }
  return widest;
}

}  // namespace memprof
