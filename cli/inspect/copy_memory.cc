#include "cli/inspect/copy_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/basics/proc_files.h"

namespace memprof {
namespace {

constexpr size_t kPagesAtOnce = 512;
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kSwapped = uint64_t{1} << 62;

}  // namespace

Result<CopyMemory> CopyMemory::Open(pid_t pid) {
  ScopedFd memory = OpenProcFile(pid, "mem");
  ScopedFd pages = OpenProcFile(pid, "pagemap");
  if (!memory || !pages) {
    return Fail(ErrorKind::kIo, fmt::format("the copy can't be read: {}", strerror(errno)));
  }
  return CopyMemory(std::move(memory), std::move(pages));
}

void CopyMemory::ReadPresent(uint64_t address, std::span<unsigned char> to) const {
  while (!to.empty()) {
    const ssize_t n = pread(memory_.get(), to.data(), to.size(), static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {  // it may be a device's memory
      std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
      return;
    }
    to = to.subspan(static_cast<size_t>(n));
    address += static_cast<uint64_t>(n);
  }
}

uint64_t CopyMemory::SkipZeros(uint64_t begin, uint64_t end) const {
  constexpr size_t kPagesToSkip = 65536;
  std::vector<uint64_t> entries(kPagesAtOnce);
  while (begin < end) {
    const uint64_t first = begin / kPage;
    const uint64_t pages = std::min<uint64_t>(entries.size(), (end - 1) / kPage - first + 1);
    const ssize_t n = pread(pages_.get(), entries.data(), pages * sizeof(uint64_t),
                            static_cast<off_t>(first * sizeof(uint64_t)));
    if (n <= 0) return end;  // beyond what can be mapped
    const uint64_t known = static_cast<uint64_t>(n) / sizeof(uint64_t);
    for (uint64_t page = 0; page < known; ++page) {
      if ((entries[page] & (kPresent | kSwapped)) != 0) {
        return std::max(begin, (first + page) * kPage);
      }
    }
    begin = (first + known) * kPage;
    entries.resize(kPagesToSkip);  // a hole that is large may be very large
  }
  return end;
}

void CopyMemory::Resident(uint64_t page, std::span<unsigned char> is) const {
  std::vector<uint64_t> entries(is.size());
  const ssize_t n = pread(pages_.get(), entries.data(), entries.size() * sizeof(uint64_t),
                          static_cast<off_t>(page * sizeof(uint64_t)));
  const size_t known = n > 0 ? static_cast<size_t>(n) / sizeof(uint64_t) : 0;
  for (size_t i = 0; i < is.size(); ++i) is[i] = i < known && (entries[i] & kPresent) != 0 ? 1 : 0;
}

void CopyMemory::Read(uint64_t address, std::span<unsigned char> to) const {
  std::array<uint64_t, kPagesAtOnce> entries;
  while (!to.empty()) {
    const uint64_t first = address / kPage;
    const uint64_t bytes = std::min<uint64_t>(to.size(), (first + kPagesAtOnce) * kPage - address);
    const uint64_t pages = (address + bytes - 1) / kPage - first + 1;
    const ssize_t n = pread(pages_.get(), entries.data(), pages * sizeof(uint64_t),
                            static_cast<off_t>(first * sizeof(uint64_t)));
    const uint64_t known = n > 0 ? static_cast<uint64_t>(n) / sizeof(uint64_t) : 0;
    const auto is_there = [&](uint64_t page) {
      return page < known && (entries[page] & (kPresent | kSwapped)) != 0;
    };
    for (uint64_t page = 0, next = 0; page < pages; page = next) {
      for (next = page + 1; next < pages && is_there(next) == is_there(page);) ++next;
      const uint64_t begin = std::max(address, (first + page) * kPage);
      const uint64_t end = std::min(address + bytes, (first + next) * kPage);
      const auto part = to.subspan(begin - address, end - begin);
      if (is_there(page)) {
        ReadPresent(begin, part);
      } else {
        std::fill(part.begin(), part.end(), static_cast<unsigned char>(0));
      }
    }
    address += bytes;
    to = to.subspan(bytes);
  }
}

}  // namespace memprof
