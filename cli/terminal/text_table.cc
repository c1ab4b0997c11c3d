#include "cli/terminal/text_table.h"

#include <algorithm>
#include <utility>

namespace memprof {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastRoom = 24;
constexpr size_t kLeastRoomWithModules = 80;

std::vector<TextTable::Column> ColumnsOf(const std::vector<std::string>& headings) {
  std::vector<TextTable::Column> columns;
  for (const std::string& heading : headings) columns.push_back({heading});
  return columns;
}

std::vector<std::string> HeadingsOf(const std::vector<TextTable::Column>& columns) {
  std::vector<std::string> headings;
  for (const TextTable::Column& column : columns) headings.push_back(column.heading);
  return headings;
}

std::string Spaces(size_t columns) { return std::string(columns, ' '); }

}  // namespace

TextTable::TextTable(const std::vector<std::string>& figures, const TextStyle& style,
                     const Names& names)
    : columns_(ColumnsOf(figures)), has_names_(true), style_(style) {
  headings_ = {figures, names.function, names.place, {}, 0, names.module};
}

TextTable::TextTable(std::vector<Column> figures, std::string text, const TextStyle& style)
    : columns_(std::move(figures)), has_names_(false), style_(style) {
  headings_ = {HeadingsOf(columns_), std::move(text)};
}

std::string TextTable::Text() const {
  const Layout layout = LayOut();
  std::string text = HeadingsText(layout) + "\n";
  for (const Row& row : rows_) {
    const std::string names = has_names_ ? NamesText(row, true, layout) : row.function;
    text += FiguresText(row.figures, row.sign, !names.empty(), layout) + names + "\n";
    if (!row.below.empty()) {
      const std::string below = ShortenedCallers(row.below, layout.room - 2);
      text += Spaces(layout.indent + 2) + Dim(below, style_) + "\n";
    }
  }
  return text;
}

TextTable::Layout TextTable::LayOut() const {
  Layout layout;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = columns_[i].width;
    if (width == 0) {
      width = Columns(columns_[i].heading);
      for (const Row& row : rows_) width = std::max(width, Columns(row.figures[i]));
    }
    layout.figures.push_back(width);
    layout.indent += width + columns_[i].gap;
  }
  while (layout.figures.size() > 1 && style_.width < layout.indent + kLeastRoom) {
    // What follows is as far from the last figure that is shown as from the last one of all.
    layout.indent -= layout.figures.back() + columns_[layout.figures.size() - 2].gap;
    layout.figures.pop_back();
  }
  layout.room =
      style_.width > layout.indent + kLeastRoom ? style_.width - layout.indent : kLeastRoom;
  if (has_names_) LayOutNames(layout);
  return layout;
}

void TextTable::LayOutNames(Layout& layout) const {
  size_t left = layout.room;
  if (!headings_.module.empty() && left >= kLeastRoomWithModules) {
    layout.module = std::min(Widest(&Row::module), left / 4);
    left -= layout.module + kGap;
  }
  layout.place = std::min(Widest(&Row::place), left / 2);
  size_t widest = Columns(headings_.function);
  for (const Row& row : rows_) {
    const bool alone = row.place.empty() && (layout.module == 0 || row.module.empty());
    if (!alone) widest = std::max(widest, Columns(row.function));
  }
  layout.function = std::min(widest, left - layout.place - kGap);
}

size_t TextTable::Widest(std::string Row::*cell) const {
  size_t widest = Columns(headings_.*cell);
  for (const Row& row : rows_) widest = std::max(widest, Columns(row.*cell));
  return widest;
}

std::string TextTable::HeadingsText(const Layout& layout) const {
  const std::string names = has_names_ ? NamesText(headings_, false, layout) : headings_.function;
  return Dim(FiguresText(headings_.figures, 0, !names.empty(), layout) + names, style_);
}

// `more`: something follows in the line.
std::string TextTable::FiguresText(const std::vector<std::string>& figures, int64_t sign, bool more,
                                   const Layout& layout) const {
  std::string text;
  for (size_t i = 0; i < layout.figures.size(); ++i) {
    const bool last = i + 1 == layout.figures.size();
    const size_t gap = last ? columns_.back().gap : columns_[i].gap;
    const std::string cell =
        PaddedLeft(figures[i], layout.figures[i]) + Spaces(more || !last ? gap : 0);
    text += i == 0 ? Coloured(cell, sign, style_) : cell;
  }
  return text;
}

std::string TextTable::NamesText(const Row& row, bool bold, const Layout& layout) const {
  const std::string place = ShortenedFront(row.place, layout.place);
  const std::string module = Shortened(row.module, layout.module);
  // Padded, and truncated for the next columns, only if something follows in the line.
  const bool alone = place.empty() && module.empty();
  const std::string function = Shortened(row.function, alone ? layout.room : layout.function);
  if (alone && function.empty()) return {};
  std::string text = bold ? Bold(function, style_) : function;
  if (!alone) text += Spaces(layout.function - Columns(function) + kGap) + place;
  if (!module.empty()) text += Spaces(layout.place - Columns(place) + kGap) + module;
  return text;
}

std::string Coloured(const std::string& text, int64_t change, const TextStyle& style) {
  return change > 0 ? Red(text, style) : change < 0 ? Green(text, style) : text;
}

}  // namespace memprof
