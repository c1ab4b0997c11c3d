#include "cli/terminal/figure_table.h"

#include <algorithm>
#include <cstddef>

namespace memprof {

std::string FigureTable::Text() const {
  constexpr size_t kLeastNames = 24;
  std::vector<size_t> widths;
  size_t indent = 0;  // where the names begin
  for (size_t i = 0; i < headings_.size(); ++i) {
    size_t widest = Columns(headings_[i]);
    for (const Row& row : rows_) widest = std::max(widest, Columns(row.figures[i]));
    widths.push_back(widest);
    indent += widest + 2;
  }
  const size_t names = style_.width > indent + kLeastNames ? style_.width - indent : kLeastNames;
  size_t places = Columns(place_), functions = Columns(function_);
  for (const Row& row : rows_) {
    if (row.place.empty()) continue;  // "steady (12 places)" may reach into the column behind
    places = std::max(places, Columns(row.place));
    functions = std::max(functions, Columns(row.function));
  }
  places = std::min(places, names / 2);
  functions = std::min(functions, names - places - 2);

  auto cell = [&](const std::vector<std::string>& figures, size_t i) {
    return PaddedLeft(figures[i], widths[i]) + "  ";
  };
  std::string head;
  for (size_t i = 0; i < widths.size(); ++i) head += cell(headings_, i);
  head += place_.empty() ? function_ : PaddedRight(function_, functions) + "  " + place_;
  std::string text = Dim(head, style_) + "\n";
  for (const Row& row : rows_) {
    text += Coloured(cell(row.figures, 0), row.sign, style_);
    for (size_t i = 1; i < widths.size(); ++i) text += cell(row.figures, i);
    if (row.place.empty()) {
      text += Bold(Shortened(row.function, names), style_) + "\n";
    } else {
      const std::string function = Shortened(row.function, functions);
      text += Bold(function, style_) + std::string(functions - Columns(function) + 2, ' ') +
              ShortenedFront(row.place, places) + "\n";
    }
    if (!row.below.empty()) {
      text += std::string(indent + 2, ' ') + Dim(Shortened(row.below, names - 2), style_) + "\n";
    }
  }
  return text;
}

std::string Coloured(const std::string& text, int64_t change, const TextStyle& style) {
  return change > 0 ? Red(text, style) : change < 0 ? Green(text, style) : text;
}

}  // namespace memprof
