// Symbolizer: from (module, offset) to functions, files and lines, by the files on this machine.
//
// Thread safety: none; one thread at a time. Memory: keeps what it opened until destroyed.
// Failure: never fails. A frame that can't be resolved degrades to the ELF symbol, then to
// "module+0xoffset" with the offset of the function's start by the unwind tables, then with its own.
// notes() says, one line a module, what was missing and how to get it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {

struct SourceFrame {
  std::string function;  // demangled; never empty
  std::string file;      // empty: not known
  uint32_t line = 0;     // 0: not known
  bool inlined = false;  // inlined into the frame that follows it
  friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

// The functions that one return address stands for: the innermost inlined function first, the
// function that really has a frame last. Never empty.
using SourceChain = std::vector<SourceFrame>;

class Symbolizer {
 public:
  virtual ~Symbolizer() = default;

  // Resolves the given frames of `modules`; the result is parallel to `frames`. The offsets are
  // return addresses. Only the implementation subtracts 1 from them.
  virtual std::vector<SourceChain> Resolve(std::span<const SnapshotModule> modules,
                                           std::span<const SnapshotFrame> frames) = 0;

  // One line for each module that could not be resolved in full, "MODULE: what is missing; how to
  // get it", in the order in which the modules were first asked for.
  virtual const std::vector<std::string>& notes() const = 0;

  // A source file's path as reports show it.
  virtual std::string ShownPath(const std::string& file) const { return file; }

  // The note on this module; empty if nothing is missing, or it was not asked for.
  virtual std::string NoteOn(const SnapshotModule&) const { return {}; }
};

// The symbolizer's current work, for a terminal.
struct SymbolizerProgress {
  std::string module;        // its name
  bool downloading = false;  // downloading its debug info; else resolving
  uint64_t done = 0;         // bytes, or frames of all modules
  uint64_t total = 0;        // 0: not known
};

struct SymbolizerOptions {
  // Directories searched like /usr/lib/debug (".build-id/ab/cdef.debug").
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
  // False: no file is opened; a name that isn't stored stays "module+0xoffset".
  bool reads_files = true;
  // The limit for all downloads of a symbolizer together, if DEBUGINFOD_URLS names servers. 0:
  // none.
  std::chrono::milliseconds download_limit = std::chrono::seconds(90);
  // Returns, parallel to `files`, the package that brings each file's debug info; empty: not known.
  // If null, notes name no packages.
  std::function<std::vector<std::string>(const std::vector<std::string>& files)> packages_of;
  // Called from time to time.
  std::function<void(const SymbolizerProgress&)> progress;
};

std::unique_ptr<Symbolizer> MakeSymbolizer(const SymbolizerOptions& options = {});

}  // namespace memprof
