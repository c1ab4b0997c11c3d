// UnitLines: the line table of one compile unit, and the names of its files.
//
// libdw keeps 40 bytes a row for as long as the debug info is open: hundreds of megabytes for a
// large program. So LineReader reads the rows through a handle of its own and closes it from time
// to time. UnitLines keeps them without the rows that change nothing.
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

  // Covers the addresses from `address` up to the next row's.
  struct Row {
    uint64_t address;
    uint32_t line;  // 0: not known
    uint32_t file;  // for File(); kNone: no code, the previous row ends here
  };

  // nullptr: the address is in no row.
  const Row* At(uint64_t address) const;

  // Returns the name of the file with that number in DWARF. The name is as the unit has it, so it
  // may be relative to the compiler's directory. Returns an empty name if there is no such file.
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

  // `unit` is in the main file, not in a .dwo.
  UnitLines Read(Dwarf_Die& unit);

 private:
  Dwarf* dwarf_ = nullptr;  // another handle of the same file
  size_t rows_read_ = 0;    // number of rows read through it
};

}  // namespace memprof
