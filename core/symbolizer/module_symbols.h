// ModuleSymbols: what can be told about the addresses of one module.
//
// Opened through elfutils' libdwfl, which finds the debug info: in the file, by build-id and
// .gnu_debuglink under the debug directories, .gnu_debugaltlink, .gnu_debugdata, compressed
// sections, and debuginfod where DEBUGINFOD_URLS is set.
//
// Thread safety: none. Failure: what lacks is in lack(), and Resolve degrades.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/symbolizer.h"
#include "core/symbolizer/function_names.h"
#include "core/symbolizer/range_index.h"
#include "core/symbolizer/symbol_index.h"
#include "core/symbolizer/unit_lines.h"
#include "core/symbolizer/unit_scopes.h"

namespace memprof {

enum class Lack {
  kNothing,
  kFile,       // the file is not here, or can't be read
  kOtherFile,  // another build of it is here
  kSymbols,    // neither debug info nor a symbol table
  kDebugInfo,  // symbols only
};

class ModuleSymbols {
 public:
  ModuleSymbols(const SnapshotModule& module, const SymbolizerOptions& options);
  ~ModuleSymbols();
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;

  Lack lack() const { return lack_; }

  // `address` is within the instruction, in the file's own terms. Never empty.
  SourceChain Resolve(uint64_t address);

 private:
  struct Unit {
    Dwarf_Die lines;   // the unit with the line table (of split units the skeleton)
    Dwarf_Die scopes;  // the unit with the functions
    std::unique_ptr<UnitScopes> index;  // these two are made at the first hit
    std::unique_ptr<UnitLines> rows;
  };

  Lack Open(const SnapshotModule& module);
  void IndexUnits(Dwarf* dwarf);
  std::vector<uint32_t> UnitsAt(uint64_t address) const;
  const UnitLines& LinesOf(Unit& unit);
  void SetLine(Unit& unit, uint64_t address, SourceFrame& frame);
  void SetCall(Unit& unit, Dwarf_Die& die, SourceFrame& frame);
  SourceChain FromUnit(Unit& unit, uint64_t address);
  SourceChain FromDebugInfo(uint64_t address);
  SourceChain FromSymbols(uint64_t address) const;

  std::string name_;  // the file's base name
  std::string debug_path_;
  char* debug_path_pointer_;
  Dwfl_Callbacks callbacks_ = {};
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  LineReader lines_;
  std::vector<Unit> units_;
  RangeIndex<uint32_t> unit_ranges_;  // of units_
  SymbolIndex symbols_;
  FunctionNames names_{symbols_};
  Lack lack_ = Lack::kNothing;
};

}  // namespace memprof
