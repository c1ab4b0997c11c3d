// ModuleSymbols: what can be told about the addresses of one module.
//
// Opened through elfutils' libdwfl, which finds the debug info: in the file, by build-id and
// .gnu_debuglink under the debug directories, .gnu_debugaltlink, .gnu_debugdata, sections
// compressed with zlib, and what Downloads fetches. Where the file is gone, or is another build,
// debug info with its build-id does as well.
//
// Thread safety: none. Failure: what lacks is in lack(), and Resolve degrades.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/symbolizer/downloads.h"
#include "core/symbolizer/function_names.h"
#include "core/symbolizer/range_index.h"
#include "core/symbolizer/symbol_index.h"
#include "core/symbolizer/symbolizer.h"
#include "core/symbolizer/unit_lines.h"
#include "core/symbolizer/unit_scopes.h"

namespace memprof {

enum class Lack {
  kNothing,
  kFile,         // the file is not here, or can't be read
  kOtherFile,    // another build of it is here
  kSymbols,      // neither debug info nor a symbol table
  kDebugInfo,    // symbols only
  kCompression,  // symbols only: the debug info is compressed in a way that can't be read
  kSplitUnits,   // some units have their functions in a .dwo file that is not there, or in a .dwp
  kNotRead,      // the file was not to be read
  kAltFile,      // the file that holds what several debug files share
  kDamaged,      // symbols only: the debug info is damaged
};

// What is to be said of a lack, beside what it is.
struct LackDetails {
  std::string file;     // the one that lacks it, or is lacking
  size_t units = 0;     // of kSplitUnits: how many
  bool packed = false;  // of kSplitUnits: they are in a .dwp
  bool asked = false;   // servers were asked for debug info
  bool late = false;    // and took too long
};

class ModuleSymbols {
 public:
  // `downloads` must outlive it.
  ModuleSymbols(const SnapshotModule& module, const SymbolizerOptions& options,
                Downloads& downloads);
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;

  Lack lack() const { return lack_; }
  const LackDetails& details() const { return details_; }

  // `address` is within the instruction, in the file's own terms. Never empty.
  SourceChain Resolve(uint64_t address);

 private:
  struct Unit {
    Dwarf_Die lines;   // the unit with the line table (of split units the skeleton)
    Dwarf_Die scopes;  // the unit with the functions
    std::unique_ptr<UnitScopes> index;  // these two are made at the first hit
    std::unique_ptr<UnitLines> rows;
  };

  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };

  Lack Open(const SnapshotModule& module);
  Lack OpenFile(int fd, const std::string& path, const std::string& build_id);
  bool OpenDebugFile(const SnapshotModule& module, const std::vector<std::string>& directories);
  Lack ReadDebugInfo();
  void IndexUnits(Dwarf* dwarf);
  void NoteMissingUnit(Dwarf_Die& skeleton);
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
  Downloads::Search search_;
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;  // before all that has pointers into it
  Dwfl_Module* module_ = nullptr;
  LineReader lines_;
  std::vector<Unit> units_;
  RangeIndex<uint32_t> unit_ranges_;  // of units_
  SymbolIndex symbols_;
  FunctionNames names_{symbols_};
  Lack lack_ = Lack::kNothing;
  LackDetails details_;
};

}  // namespace memprof
