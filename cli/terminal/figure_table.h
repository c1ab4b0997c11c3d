// FigureTable: rows of figures and names as aligned columns within a width, each with a line below
// it, if it has one.
//
//    change  blocks  function          place
//    +1 KiB      +3  Load()            load.cc:12
//                      ← main
//       0 B       0  unchanged (3 sites)
//
// Figures have the columns that they need; function and place share the rest.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal/terminal.h"

namespace memprof {

class FigureTable {
 public:
  // Headings of the figures, and of the two columns of names; of the second one none if no row has
  // anything there.
  FigureTable(std::vector<std::string> headings, const TextStyle& style,
              std::string function = "function", std::string place = "place")
      : headings_(std::move(headings)),
        function_(std::move(function)),
        place_(std::move(place)),
        style_(style) {}

  struct Row {
    std::vector<std::string> figures;       // as many as headings
    std::string function = {}, place = {};  // Printable
    std::string below = {};                 // Printable
    int64_t sign = 0;                       // of the first figure: above 0 is red, below green
  };
  void Add(Row row) { rows_.push_back(std::move(row)); }

  std::string Text() const;

 private:
  std::vector<std::string> headings_;
  std::string function_, place_;
  TextStyle style_;
  std::vector<Row> rows_;
};

// Red for more, green for less.
std::string Coloured(const std::string& text, int64_t change, const TextStyle& style);

}  // namespace memprof
