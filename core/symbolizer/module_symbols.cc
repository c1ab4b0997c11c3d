#include "core/symbolizer/module_symbols.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/symbolizer/build_id.h"
#include "core/symbolizer/debug_sections.h"
#include "core/symbolizer/demangle.h"
#include "core/symbolizer/regular_file.h"

namespace memprof {
namespace {

// A file's full name. The directories of units are relative to the compiler's own. "a/./b/../c"
// becomes "a/c", so that the same file has one name.
std::string FullName(Dwarf_Die& unit, const std::string& file) {
  if (file.empty()) return {};
  std::filesystem::path path = file;
  Dwarf_Attribute attribute;
  if (path.is_relative() && dwarf_attr(&unit, DW_AT_comp_dir, &attribute) != nullptr) {
    const char* directory = dwarf_formstring(&attribute);
    if (directory != nullptr) path = directory / path;
  }
  return path.lexically_normal().string();
}

// The name of a file in a split unit, which has its own list of files.
std::string SplitFile(Dwarf_Die& unit, uint64_t index) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) return {};
  const char* name = dwarf_filesrc(files, index, nullptr, nullptr);
  return name != nullptr ? name : "";
}

// The number in DW_AT_call_file, an index into the files of the DIE's unit.
std::optional<uint64_t> CallFile(Dwarf_Die& die, Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  if (dwarf_attr(&die, DW_AT_call_file, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &index) != 0) {
    return {};
  }
  // Before DWARF 5 files count from 1, and 0 means none.
  Dwarf_Half version = 0;
  if (index == 0 &&
      dwarf_cu_info(unit.cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == 0 &&
      version < 5) {
    return {};
  }
  return index;
}

uint32_t CallLine(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  if (dwarf_attr(&die, DW_AT_call_line, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &line) != 0) {
    return 0;
  }
  return static_cast<uint32_t>(line);
}

}  // namespace

ModuleSymbols::ModuleSymbols(const SnapshotModule& module, const SymbolizerOptions& options,
                             Downloads& downloads)
    : name_(std::filesystem::path(module.path).filename().string()) {
  // "+": check CRCs; "": beside the file; ".debug": its subfolder; then the debug directories.
  debug_path_ = "+:.debug";
  for (const std::string& directory : options.debug_directories) debug_path_ += ":" + directory;
  debug_path_pointer_ = debug_path_.data();
  callbacks_.find_elf = dwfl_build_id_find_elf;
  callbacks_.find_debuginfo = Downloads::FindDebugInfo;
  callbacks_.section_address = dwfl_offline_section_address;
  callbacks_.debuginfo_path = &debug_path_pointer_;
  if (name_.empty()) name_ = "?";
  search_.downloads = &downloads;
  search_.directories = options.debug_directories;
  search_.module = name_;
  if (!options.reads_files) {
    lack_ = Lack::kNotRead;
    return;
  }
  lack_ = Open(module);
  if ((lack_ == Lack::kFile || lack_ == Lack::kOtherFile) &&
      OpenDebugFile(module, options.debug_directories)) {
    lack_ = Lack::kNothing;
  }
  if (module_ != nullptr) lack_ = ReadDebugInfo();
  details_.asked = search_.asked;
  details_.late = search_.late;
}

Lack ModuleSymbols::Open(const SnapshotModule& module) {
  if (module.path.empty() || module.path[0] != '/') return Lack::kFile;
  ScopedFd fd = OpenRegularFile(module.path);
  return fd ? OpenFile(std::move(fd), module.path, module.build_id) : Lack::kFile;
}

// Sets module_ if it returns kNothing.
Lack ModuleSymbols::OpenFile(ScopedFd fd, const std::string& path, const std::string& build_id) {
  dwfl_.reset(dwfl_begin(&callbacks_));
  if (dwfl_ == nullptr) return Lack::kFile;
  search_.dwfl = dwfl_.get();
  dwfl_report_begin(dwfl_.get());
  // Loads at the file's own addresses; libdwfl owns the descriptor if it succeeds.
  Dwfl_Module* reported =
      dwfl_report_elf(dwfl_.get(), name_.c_str(), path.c_str(), fd.get(), 0, true);
  if (reported != nullptr) fd.Release();
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  if (reported == nullptr) return Lack::kFile;
  void** user_data = nullptr;
  dwfl_module_info(reported, &user_data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *user_data = &search_;
  GElf_Addr bias = 0;
  if (dwfl_module_getelf(reported, &bias) == nullptr) return Lack::kFile;
  if (BuildIdOf(reported) != build_id) return Lack::kOtherFile;
  module_ = reported;
  return Lack::kNothing;
}

// Opens debug info by build-id in place of the file: it has the symbols and the addresses too.
bool ModuleSymbols::OpenDebugFile(const SnapshotModule& module,
                                  const std::vector<std::string>& directories) {
  const std::string& id = module.build_id;
  if (id.size() <= 2) return false;
  for (const std::string& path : DebugFilesByBuildId(id, directories)) {
    ScopedFd fd = OpenRegularFile(path);
    if (fd && OpenFile(std::move(fd), path, id) == Lack::kNothing) return true;
  }
  if (dwfl_ == nullptr) dwfl_.reset(dwfl_begin(&callbacks_));
  if (dwfl_ == nullptr) return false;
  search_.dwfl = dwfl_.get();
  std::string path;
  ScopedFd fd(Downloads::FindByBuildId(search_, id, path));
  return fd && OpenFile(std::move(fd), path, id) == Lack::kNothing;
}

Lack ModuleSymbols::ReadDebugInfo() {
  symbols_.Fill(module_);
  Dwarf_Addr bias = 0;
  Dwarf* dwarf = dwfl_module_getdwarf(module_, &bias);
  Dwarf* alt = dwarf != nullptr ? dwarf_getalt(dwarf) : nullptr;
  const bool damaged = HasCutNames(dwarf) || HasCutNames(alt);
  if (dwarf != nullptr && !damaged) IndexUnits(dwarf);
  const char* main_file = nullptr;
  const char* debug_file = nullptr;
  dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, &main_file, &debug_file);
  for (const char* file : {main_file, debug_file}) {
    if (file == nullptr || !HasUnreadableCompression(file)) continue;
    details_.file = file;
    return Lack::kCompression;
  }
  if (damaged) {
    details_.file = debug_file != nullptr ? debug_file : name_;
    return Lack::kDamaged;
  }
  if (units_.empty()) {
    return dwfl_module_getsymtab(module_) > 1 ? Lack::kDebugInfo : Lack::kSymbols;
  }
  if (details_.units > 0) {
    const std::string packed = std::string(main_file != nullptr ? main_file : "") + ".dwp";
    details_.packed = access(packed.c_str(), R_OK) == 0;
    if (details_.packed) details_.file = packed;
    return Lack::kSplitUnits;
  }
  const char* shared = nullptr;
  const void* shared_id = nullptr;
  if (dwelf_dwarf_gnu_debugaltlink(dwarf, &shared, &shared_id) > 0 &&
      dwarf_getalt(dwarf) == nullptr) {
    details_.file = shared;
    return Lack::kAltFile;
  }
  return Lack::kNothing;
}

void ModuleSymbols::NoteMissingUnit(Dwarf_Die& skeleton) {
  if (++details_.units > 1) return;
  Dwarf_Attribute attribute;
  if (dwarf_attr(&skeleton, DW_AT_dwo_name, &attribute) == nullptr &&
      dwarf_attr(&skeleton, DW_AT_GNU_dwo_name, &attribute) == nullptr) {
    return;
  }
  const char* name = dwarf_formstring(&attribute);
  if (name != nullptr) details_.file = FullName(skeleton, name);
}

// clang and rustc write no .debug_aranges, so the units themselves are asked.
void ModuleSymbols::IndexUnits(Dwarf* dwarf) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  Dwarf_Die split;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    const bool has_split = type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid &&
                           !HasCutNames(dwarf_cu_getdwarf(split.cu));
    const auto index = static_cast<uint32_t>(units_.size());
    Dwarf_Addr base;
    Dwarf_Addr low;
    Dwarf_Addr high;
    bool any = false;
    for (ptrdiff_t offset = 0; (offset = dwarf_ranges(&die, offset, &base, &low, &high)) > 0;) {
      if (low >= high || low == 0) continue;  // 0: a function that the linker dropped
      unit_ranges_.Add(low, high, index);
      any = true;
    }
    if (any && type == DW_UT_skeleton && !has_split) NoteMissingUnit(die);
    if (any) units_.push_back({die, has_split ? split : die, nullptr, nullptr});
  }
  unit_ranges_.Sort();
}

// In the order of the file. An inline function or a template is in every unit that uses it. The
// linker keeps the first copy, and points the ranges of the others at it.
std::vector<uint32_t> ModuleSymbols::UnitsAt(uint64_t address) const {
  std::vector<uint32_t> units;
  unit_ranges_.Covering(address, [&](uint32_t unit) {
    units.push_back(unit);
    return false;
  });
  std::sort(units.begin(), units.end());
  return units;
}

// Reads the unit at the first hit.
const UnitLines& ModuleSymbols::LinesOf(Unit& unit) {
  if (unit.rows == nullptr) unit.rows = std::make_unique<UnitLines>(lines_.Read(unit.lines));
  return *unit.rows;
}

void ModuleSymbols::SetLine(Unit& unit, uint64_t address, SourceFrame& frame) {
  const UnitLines& lines = LinesOf(unit);
  const UnitLines::Row* row = lines.At(address);
  if (row == nullptr) return;
  frame.file = FullName(unit.lines, lines.File(row->file));
  frame.line = row->line;
}

void ModuleSymbols::SetCall(Unit& unit, Dwarf_Die& die, SourceFrame& frame) {
  const auto file = CallFile(die, unit.scopes);
  const bool split = unit.scopes.cu != unit.lines.cu;
  if (file) {
    frame.file =
        FullName(unit.lines, split ? SplitFile(unit.scopes, *file) : LinesOf(unit).File(*file));
  }
  frame.line = CallLine(die);
}

SourceChain ModuleSymbols::FromUnit(Unit& unit, uint64_t address) {
  if (unit.index == nullptr) unit.index = std::make_unique<UnitScopes>(unit.scopes);
  SourceChain chain;
  SourceFrame frame;
  SetLine(unit, address, frame);
  // Innermost first. The line table has the innermost function's line; each function's DIE has the
  // line of the call to it.
  for (Dwarf_Die& die : unit.index->At(address, symbols_.MayBeCode(address))) {
    frame.function = names_.Of(die);
    frame.inlined = dwarf_tag(&die) == DW_TAG_inlined_subroutine;
    chain.push_back(frame);
    frame = {};
    SetCall(unit, die, frame);
  }
  return chain;
}

SourceChain ModuleSymbols::FromDebugInfo(uint64_t address) {
  const std::vector<uint32_t> units = UnitsAt(address);
  for (const uint32_t unit : units) {
    SourceChain chain = FromUnit(units_[unit], address);
    if (!chain.empty()) return chain;
  }
  // A line without a function (assembly) gets its name from the symbol.
  for (const uint32_t unit : units) {
    SourceFrame frame;
    SetLine(units_[unit], address, frame);
    if (frame.line == 0) continue;
    frame.function = FromSymbols(address).front().function;
    return {frame};
  }
  return {};
}

SourceChain ModuleSymbols::FromSymbols(uint64_t address) {
  const std::string name = symbols_.At(address);
  if (name.empty()) {
    // By its start a function without a symbol is one function, wherever it allocates.
    if (starts_ == nullptr && module_ != nullptr) {
      starts_ = std::make_unique<FunctionStarts>(module_);
    }
    const uint64_t place = starts_ != nullptr ? starts_->At(address).value_or(address) : address;
    return {{fmt::format("{}+{:#x}", name_, place), "", 0, false}};
  }
  return {{Demangle(name.c_str()), "", 0, false}};
}

SourceChain ModuleSymbols::Resolve(uint64_t address) {
  SourceChain chain = module_ != nullptr ? FromDebugInfo(address) : SourceChain();
  return chain.empty() ? FromSymbols(address) : chain;
}

}  // namespace memprof
