// UnitLines: the line table of one compile unit, and the names of its files.
//
// libdw keeps 40 bytes a row for as long as the debug info is open, hundreds of megabytes of a
// large program. So the rows are read through a handle of their own (LineReader), which is closed
// every now and then, and kept here without those that change nothing.
//
// Thread safety: UnitLines const; LineReader none.
// Ownership: the Dwarf must outlive the LineReader; UnitLines owns all it has.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace memprof {

class UnitLines {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // From `address` up to the next row's.
  struct Row {
    uint64_t address;
    uint32_t line;  // 0: not known
    uint32_t file;  // for File(); kNone: no code, the rows before end here
  };

  // nullptr: the address is in no row.
  const Row* At(uint64_t address) const;

  // By DWARF's number; as the unit has it, perhaps relative to where the compiler ran. Empty where
  // there is none.
  const std::string& File(uint64_t index) const;

 private:
  friend class LineReader;
  void Add(const Row& row);

  std::vector<Row> rows_;  // by address
  std::vector<std::string> files_;
};

class LineReader {
 public:
  LineReader() = default;
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // `unit` is of the main file, not of a .dwo.
  UnitLines Read(Dwarf_Die& unit);

 private:
  Dwarf* dwarf_ = nullptr;  // another handle of the same file
  size_t rows_read_ = 0;    // through it
};

}  // namespace memprof
