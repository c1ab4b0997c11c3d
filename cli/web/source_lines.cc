#include "cli/web/source_lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace memprof {
namespace {

constexpr std::string_view kExtensions[] = {
    "c",   "cc",  "cpp", "cxx", "c++", "C",   "h",   "hh",  "hpp", "hxx", "h++",  "H",
    "inc", "inl", "ipp", "tcc", "tpp", "txx", "def", "s",   "S",   "asm", "rs",   "go",
    "d",   "m",   "mm",  "f",   "f90", "F90", "f95", "ada", "adb", "ads", "pas",  "zig",
    "nim", "cu",  "cuh", "y",   "l",   "yy",  "ll",  "re",  "rl",  "pyx", "vala", "swift"};

bool IsCalledLikeSource(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || file.find('/', dot) != std::string_view::npos) return false;
  return std::find(std::begin(kExtensions), std::end(kExtensions), file.substr(dot + 1)) !=
         std::end(kExtensions);
}

bool IsReadable(const std::string& file, int64_t until_unix_ms) {
  struct stat facts;
  if (!IsCalledLikeSource(file) || file[0] != '/' || stat(file.c_str(), &facts) != 0) return false;
  const int64_t changed_ms =
      int64_t{facts.st_mtim.tv_sec} * 1000 + facts.st_mtim.tv_nsec / 1'000'000;
  return S_ISREG(facts.st_mode) &&
         static_cast<uint64_t>(facts.st_size) <= SourceLines::kMaxFileBytes &&
         changed_ms <= until_unix_ms;
}

// Never cuts within a UTF-8 sequence.
std::string Cut(std::string text) {
  if (text.size() <= SourceLines::kMaxLineBytes) return text;
  size_t end = SourceLines::kMaxLineBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

const SourceLines::File& SourceLines::Read(const std::string& name) {
  const auto [place, is_new] = files_.try_emplace(name);
  File& file = place->second;
  if (!is_new || !IsReadable(name, until_unix_ms_)) return file;
  std::ifstream in(name, std::ios::binary);
  file.text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  for (size_t at = 0; at < file.text.size();) {
    file.starts.push_back(at);
    const size_t end = file.text.find('\n', at);
    at = end == std::string::npos ? file.text.size() : end + 1;
  }
  return file;
}

std::string SourceLines::Text(const std::string& file, uint32_t line) {
  const File& source = Read(file);
  if (line == 0 || line > source.starts.size()) return {};
  constexpr const char* kSpace = " \t\r\f\v";
  const size_t start = source.starts[line - 1];
  const std::string text = source.text.substr(start, source.text.find('\n', start) - start);
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return Cut(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

}  // namespace memprof
