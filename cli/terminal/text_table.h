// TextTable: rows of figures, and what the figures are of, as aligned columns within a width.
//
//    change  blocks  function          place
//    +1 KiB      +3  Load()            load.cc:12
//                      ← main
//       0 B       0  unchanged (3 sites)
//      1 KiB      3  total
//
// Figures are aligned to the right. Their columns are as wide as the widest cell, or have a fixed
// width. Behind them there is either of two:
//
//   names  function, place and module, aligned to the left. They share what the figures leave of
//          the width. A place takes at most half of it and loses its front; a function loses its
//          middle. The column of modules is left out if there is no room for it. A function alone
//          in its row ("unchanged (3 sites)") extends into the next columns.
//   text   one cell, printed as it is given
//
// Where the figures leave less than 24 columns, those at the right are left out; the first one stays.
//
// Invariants, for rows with names and columns of figures without a fixed width:
//   1. A line is at most as wide as the style says, or has one figure and at most 24 columns of
//      names.
//   2. No line ends in spaces.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace memprof {

class TextTable {
 public:
  struct Column {
    std::string heading;
    size_t width = 0;  // 0: that of the widest cell; else a wider cell moves the rest of its line
    size_t gap = 2;    // spaces behind it
  };
  struct Names {  // headings; without one there is no such column
    std::string function = "function", place = "place", module = {};
  };

  // A table of names. `figures`: the headings of their columns.
  TextTable(const std::vector<std::string>& figures, const TextStyle& style,
            const Names& names = {"function", "place", {}});
  // A table of texts, with this heading.
  TextTable(std::vector<Column> figures, std::string text, const TextStyle& style);

  struct Row {
    std::vector<std::string> figures;       // as many as there are columns of figures
    std::string function = {}, place = {};  // Printable; in a table of texts `function` is the text
    std::string below = {};                 // Printable; a dimmed line below it, not with texts
    int64_t sign = 0;                       // of the first figure: positive is red, negative green
    std::string module = {};                // Printable
  };
  void Add(Row row) { rows_.push_back(std::move(row)); }

  Row& row(size_t i) { return rows_[i]; }

  // Where the names or the text begin, and the room for them. Call them after the last figure was
  // added, unless all columns have fixed widths.
  size_t Indent() const { return LayOut().indent; }
  size_t Room() const { return LayOut().room; }

  std::string Text() const;

  // Without a newline, for a table whose rows come one by one. Pre: all columns have fixed widths.
  std::string Headings() const { return HeadingsText(LayOut()); }
  std::string Figures(const std::vector<std::string>& figures) const {
    return FiguresText(figures, 0, true, LayOut());
  }

 private:
  struct Layout {
    std::vector<size_t> figures;  // widths of those that are shown
    size_t indent = 0, room = 0;
    size_t function = 0, place = 0, module = 0;
  };

  Layout LayOut() const;
  void LayOutNames(Layout& layout) const;
  size_t Widest(std::string Row::*cell) const;
  std::string HeadingsText(const Layout& layout) const;
  std::string FiguresText(const std::vector<std::string>& figures, int64_t sign, bool more,
                          const Layout& layout) const;
  std::string NamesText(const Row& row, bool bold, const Layout& layout) const;

  const std::vector<Column> columns_;
  const bool has_names_;
  const TextStyle style_;
  Row headings_;
  std::vector<Row> rows_;
};

// Red for more, green for less.
std::string Coloured(const std::string& text, int64_t change, const TextStyle& style);

}  // namespace memprof
