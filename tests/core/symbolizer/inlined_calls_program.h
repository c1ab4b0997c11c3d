// InlinedCalls: one build of the program inlined_calls, what it printed and where its lines are;
// and a folder for copies of it.
//
// Failure: throws std::runtime_error, which fails the test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/symbolizer/symbolizer.h"

namespace memprof {

class InlinedCalls {
 public:
  explicit InlinedCalls(const std::string& name);  // "gcc_dwarf5"

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }
  SnapshotModule Module() const { return {path_, build_id_}; }

  // The return address of the call Here(label), in the file's own terms.
  uint64_t Offset(const std::string& label) const;

 private:
  std::string path_;
  std::string build_id_;
  std::map<std::string, uint64_t> offsets_;
};

// The line of the source file with the comment "line: what".
uint32_t LineOf(const std::string& file, const std::string& what);

// The path of a source file of the program.
std::string SourcePath(const std::string& file);

// Runs a command of the shell and gives what it printed.
std::string Shell(const std::string& command);

// "0123ab…": empty if the file has none.
std::string BuildIdOf(const std::string& path);

// A new folder, removed with all in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace memprof
