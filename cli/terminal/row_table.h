// RowTable: rows of figures and names as aligned columns within a width.
//
// Figures have the columns that they need; function, place and module share the rest.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

class RowTable {
 public:
  // `figure` heads the first column; shares are of `whole_bytes`. If they are estimates, headings
  // say so.
  RowTable(const char* figure, uint64_t whole_bytes, bool estimates, const TextStyle& style);

  // `error_bytes`: the figure's standard error. Names must be Printable.
  void Add(const Count& figure, uint64_t error_bytes, const Count& total,
           const std::string& function, const std::string& place = {},
           const std::string& module = {});

  // Once, after the last row. The column of modules is left out where there is no room for it.
  void LayOut(bool modules);

  std::string Headings() const { return Dim(Text(headings_), style_) + "\n"; }
  std::string Line(size_t row) const { return Text(rows_[row]) + "\n"; }

  size_t size() const { return rows_.size(); }
  size_t indent() const { return indent_; }  // where the names begin
  size_t names() const { return names_; }    // columns of all names together

 private:
  struct Cells {
    std::string bytes = {}, share = {}, count = {}, total = {};
    std::string function = {}, place = {}, module = {};
  };

  std::string Text(const Cells& cells) const;
  bool IsAlone(const Cells& cells) const;  // no column behind the function's has anything
  size_t Widest(std::string Cells::*column) const;

  const uint64_t whole_bytes_;
  const TextStyle style_;
  const Cells headings_;
  std::vector<Cells> rows_;
  size_t bytes_ = 0, share_ = 0, count_ = 0, total_ = 0;
  size_t indent_ = 0, names_ = 0;
  size_t function_ = 0, place_ = 0, module_ = 0;
};

}  // namespace memprof
