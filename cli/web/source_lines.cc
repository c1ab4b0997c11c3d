#include "cli/web/source_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "core/symbolizer/regular_file.h"

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

// The text of a source file. The name is foreign: a link that has it may lead to any file that whoever
// writes the page may read, so the name of what was opened counts, too. Empty: it isn't read.
std::string TextOf(const std::string& name, int64_t until_unix_ms) {
  if (!IsCalledLikeSource(name) || name[0] != '/') return {};
  const ScopedFd file = OpenRegularFile(name);
  struct stat facts;
  std::error_code error;
  if (!file || fstat(file.get(), &facts) != 0 ||
      !IsCalledLikeSource(
          std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file.get()), error)
              .native())) {
    return {};
  }
  const int64_t changed_ms =
      int64_t{facts.st_mtim.tv_sec} * 1000 + facts.st_mtim.tv_nsec / 1'000'000;
  if (static_cast<uint64_t>(facts.st_size) > SourceLines::kMaxFileBytes ||
      changed_ms > until_unix_ms) {
    return {};
  }
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = read(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
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
  if (!is_new) return file;
  file.text = TextOf(name, until_unix_ms_);
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
