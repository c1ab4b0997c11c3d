#include "cli/preflight/inner_jemalloc_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/basics/proc_files.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/inner_jemalloc.h"
#include "cli/preflight/started_program.h"
#include "core/symbolizer/elf_file.h"
#include "core/symbolizer/regular_file.h"

namespace memprof {
namespace {

constexpr size_t kMaxFiles = 256;

// Searching a larger file would make the tracker wait too long.
constexpr off_t kLookedThrough = off_t{64} << 20;

InnerAllocators Read(int fd, off_t bytes) {
  const ElfFile file(fd);
  if (file.elf() == nullptr) return {};
  InnerAllocators found = {ReadInnerJemalloc(file.elf()), {}};
  if (found.jemalloc.mallctl != 0) return found;
  const auto facts = ReadElfFacts(fmt::format("/proc/self/fd/{}", fd), bytes <= kLookedThrough);
  if (facts) found.unseen = UnseenAllocator(*facts);
  return found;
}

// The executable of a program under valgrind is valgrind's tool. A tool that replaces malloc, also
// ours, has a library for that beside it: memcheck has one, callgrind has none.
bool IsValgrindWithMalloc(pid_t pid) {
  const std::filesystem::path tool = ProcLink(pid, "exe");
  if (tool.string().find("/valgrind/") == std::string::npos) return false;
  std::error_code error;
  const auto library = std::filesystem::path(ProcPath(pid, "root")) /
                       tool.parent_path().relative_path() /
                       ("vgpreload_" + tool.filename().string() + ".so");
  return std::filesystem::exists(library, error);
}

}  // namespace

const InnerAllocators& InnerJemallocCache::Of(pid_t pid) {
  if (IsValgrindWithMalloc(pid)) return of_valgrind_;
  return OfFile(StartedProgramOf(pid).file);
}

const InnerAllocators& InnerJemallocCache::OfFile(const std::string& path) {
  const ScopedFd fd = OpenRegularFile(path);
  if (!fd) return none_;
  const InnerAllocators* found = &none_;
  struct stat info;
  if (fstat(fd.get(), &info) == 0) {
    const File file = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                       info.st_mtim.tv_nsec};
    if (known_.size() >= kMaxFiles) known_.clear();
    const auto [at, is_new] = known_.try_emplace(file);
    if (is_new) at->second = Read(fd.get(), info.st_size);
    found = &at->second;
  }
  return *found;
}

}  // namespace memprof
