#include "cli/run/jemalloc/inner_jemalloc_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/jemalloc/inner_jemalloc.h"
#include "core/symbolizer/elf_file.h"
#include "core/symbolizer/regular_file.h"

namespace memprof {
namespace {

constexpr size_t kMaxFiles = 256;

InnerJemalloc Read(int fd) {
  const ElfFile file(fd);
  return file.elf() != nullptr ? ReadInnerJemalloc(file.elf()) : InnerJemalloc{};
}

}  // namespace

InnerJemalloc InnerJemallocCache::Of(pid_t pid) { return OfFile(fmt::format("/proc/{}/exe", pid)); }

InnerJemalloc InnerJemallocCache::OfFile(const std::string& path) {
  const int fd = OpenRegularFile(path);
  if (fd < 0) return {};
  InnerJemalloc jemalloc = {};
  struct stat info;
  if (fstat(fd, &info) == 0) {
    const File file = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                       info.st_mtim.tv_nsec};
    if (known_.size() >= kMaxFiles) known_.clear();
    const auto [at, is_new] = known_.try_emplace(file);
    if (is_new) at->second = Read(fd);
    jemalloc = at->second;
  }
  close(fd);
  return jemalloc;
}

}  // namespace memprof
