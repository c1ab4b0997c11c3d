// SourceLines: the text of lines of source files, if the files are on this machine and still as
// compiled. The check for that is that they were not changed since the run ended.
//
// A capture may come from anywhere and name any file, and a page may be passed on. So a file is
// read only if it has a name of a source file (".c", ".cc", ".rs", …), is regular, and is smaller
// than kMaxFileBytes.
//
// Failure: none; a file that can't be read has no text. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace memprof {

class SourceLines {
 public:
  static constexpr uint64_t kMaxFileBytes = 4u << 20;
  static constexpr size_t kMaxLineBytes = 160;

  // `until_unix_ms`: files that were changed later are not what ran.
  explicit SourceLines(int64_t until_unix_ms) : until_unix_ms_(until_unix_ms) {}

  // The line without surrounding white space, cut after kMaxLineBytes. Lines count from 1.
  std::string Text(const std::string& file, uint32_t line);

 private:
  struct File {
    std::string text;
    std::vector<size_t> starts;  // of lines in `text`
  };
  const File& Read(const std::string& name);

  int64_t until_unix_ms_;
  std::unordered_map<std::string, File> files_;
};

}  // namespace memprof
