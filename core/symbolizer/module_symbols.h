// ModuleSymbols: resolves the addresses of one module.
//
// The file is opened through elfutils' libdwfl, which finds the debug info: in the file, by
// build-id and .gnu_debuglink under the debug directories, .gnu_debugaltlink, .gnu_debugdata,
// sections compressed with zlib, and files that Downloads fetches. If the file is gone, or is
// another build, debug info with its build-id is used alone.
//
// Thread safety: none. Failure: lack() says what is missing, and Resolve degrades.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/scoped_fd.h"
#include "core/symbolizer/downloads.h"
#include "core/symbolizer/function_names.h"
#include "core/symbolizer/function_starts.h"
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
  kNotRead,      // the options forbid reading the file
  kAltFile,      // the file that several debug files share is missing
  kDamaged,      // symbols only: the debug info is damaged
};

// Details of a lack, for the message.
struct LackDetails {
  std::string file;     // the file that is missing, or lacks something
  size_t units = 0;     // for kSplitUnits: how many
  bool packed = false;  // for kSplitUnits: they are in a .dwp
  bool asked = false;   // servers were asked for debug info
  bool late = false;    // and the time ran out
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

  // `address` is within the instruction, in the file's own terms. The result is never empty.
  SourceChain Resolve(uint64_t address);

 private:
  struct Unit {
    Dwarf_Die lines;   // the unit with the line table (for split units the skeleton)
    Dwarf_Die scopes;  // the unit with the functions
    std::unique_ptr<UnitScopes> index;  // this and the lines are made at the first hit
    std::unique_ptr<UnitLines> rows;
  };

  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };

  Lack Open(const SnapshotModule& module);
  Lack OpenFile(ScopedFd fd, const std::string& path, const std::string& build_id);
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
  SourceChain FromSymbols(uint64_t address);

  std::string name_;  // the file's base name
  std::string debug_path_;
  char* debug_path_pointer_;
  Dwfl_Callbacks callbacks_ = {};
  Downloads::Search search_;
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;  // first, because the members below have pointers into it
  Dwfl_Module* module_ = nullptr;
  LineReader lines_;
  std::vector<Unit> units_;
  RangeIndex<uint32_t> unit_ranges_;  // of units_
  SymbolIndex symbols_;
  std::unique_ptr<FunctionStarts> starts_;  // made at the first function without a symbol
  FunctionNames names_{symbols_};
  Lack lack_ = Lack::kNothing;
  LackDetails details_;
};

}  // namespace memprof
