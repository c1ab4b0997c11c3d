// FunctionTable: the exported functions of a module that a process has loaded, by name and by
// address.
//
// Thread safety: immutable. Failure: a file that can't be read gives an empty table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memprof {

class FunctionTable {
 public:
  FunctionTable() = default;
  // `begin`: the address at which the file's first byte is mapped.
  FunctionTable(const std::string& path, uint64_t begin);

  // Also finds objects; 0 if there is none.
  uint64_t Find(std::string_view name) const;
  // All names of the function that contains the address; empty if none does.
  std::vector<std::string_view> NamesAt(uint64_t address) const;
  bool IsExported(uint64_t address) const { return !NamesAt(address).empty(); }

 private:
  struct Function {
    uint64_t begin;
    uint64_t end;
    std::string name;
  };
  std::vector<Function> functions_;  // by begin
  uint64_t longest_ = 0;
};

}  // namespace memprof
