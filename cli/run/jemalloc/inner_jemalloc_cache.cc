#include "cli/run/jemalloc/inner_jemalloc_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/jemalloc/inner_jemalloc.h"

namespace memprof {
namespace {

constexpr size_t kMaxFiles = 256;

InnerJemalloc Read(int fd) {
  if (elf_version(EV_CURRENT) == EV_NONE) return {};
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  if (elf == nullptr) return {};
  const InnerJemalloc jemalloc = ReadInnerJemalloc(elf);
  elf_end(elf);
  return jemalloc;
}

}  // namespace

InnerJemalloc InnerJemallocCache::Of(pid_t pid) { return OfFile(fmt::format("/proc/{}/exe", pid)); }

InnerJemalloc InnerJemallocCache::OfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  InnerJemalloc jemalloc = {};
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
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
