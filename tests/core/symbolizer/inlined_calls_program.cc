#include "tests/core/symbolizer/inlined_calls_program.h"

#include <stdlib.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace memprof {

InlinedCalls::InlinedCalls(const std::string& name)
    : path_(std::string(INLINED_CALLS_PROGRAMS "/inlined_calls_") + name),
      build_id_(BuildIdOf(path_)) {
  std::istringstream lines(Shell(path_));
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    offsets_[line.substr(0, space)] = std::stoull(line.substr(space + 1), nullptr, 16);
  }
}

uint64_t InlinedCalls::Offset(const std::string& label) const { return offsets_.at(label); }

uint32_t LineOf(const std::string& file, const std::string& what) {
  std::ifstream source(SourcePath(file));
  uint32_t number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.ends_with(" line: " + what)) return number;
  }
  throw std::runtime_error("no line: " + what);
}

std::string SourcePath(const std::string& file) { return INLINED_CALLS_SOURCES "/" + file; }

std::string Shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), bytes);
  }
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return output;
}

std::string BuildIdOf(const std::string& path) {
  const std::string notes = Shell("LC_ALL=C readelf -n '" + path + "'");
  const std::string before = "Build ID: ";
  const size_t at = notes.find(before);
  if (at == std::string::npos) return {};
  return notes.substr(at + before.size(), notes.find('\n', at) - at - before.size());
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "memprof_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace memprof
