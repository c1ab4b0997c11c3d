#include "aggregator/tables/program_path.h"

#include <fcntl.h>

#include "aggregator/kernel_calls.h"
#include "aggregator/libc_functions.h"

namespace memprof {

int MappedRanges::NextCharacter() {
  if (at_ == end_) {
    const long n = kernel::Read(fd_, buffer_, sizeof buffer_);
    if (n <= 0) return last_ = -1;
    at_ = 0;
    end_ = static_cast<size_t>(n);
  }
  return last_ = static_cast<unsigned char>(buffer_[at_++]);
}

// Up to the character that ends it, which is taken too.
uintptr_t MappedRanges::TakeHexadecimal() {
  uintptr_t value = 0;
  for (;;) {
    const int c = NextCharacter();
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return value;
    value = value << 4 | static_cast<uintptr_t>(digit);
  }
}

// "7f0443349000-7f044334c000 r-xp 00001000 fe:00 10005027   /usr/bin/program"
bool MappedRanges::Next(uintptr_t* begin, uintptr_t* end) {
  while (last_ >= 0 && last_ != '\n') NextCharacter();
  *begin = TakeHexadecimal();
  if (last_ < 0) return false;
  *end = TakeHexadecimal();
  return last_ >= 0;
}

size_t MappedRanges::ReadPath(char* path, size_t room) {
  // It begins at the first '/': no field before it has one.
  size_t bytes = 0;
  while (last_ >= 0 && last_ != '\n') {
    if (last_ == '/' || bytes != 0) {
      if (bytes == room) return 0;
      path[bytes++] = static_cast<char>(last_);
    }
    NextCharacter();
  }
  return bytes;
}

size_t ReadMappedPath(int fd, unsigned long address, char* path, size_t room) {
  MappedRanges ranges(fd);
  for (uintptr_t begin = 0, end = 0; ranges.Next(&begin, &end);) {
    if (address >= begin && address < end) return ranges.ReadPath(path, room);
  }
  return 0;
}

// By this thread's part of /proc: that of the process has nothing when its main thread has ended.
size_t ReadProgramPath(char* path, size_t room) {
  // The kernel gives the base of the loader that it mapped for a program; for a loader that is the
  // executable itself there is none.
  if (AuxiliaryValue(AT_BASE) == 0) {
    const int fd = kernel::Open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      const size_t bytes = ReadMappedPath(fd, AuxiliaryValue(AT_PHDR), path, room);
      kernel::Close(fd);
      if (bytes != 0) return bytes;
    }
    const char* given = reinterpret_cast<const char*>(AuxiliaryValue(AT_EXECFN));
    size_t bytes = 0;  // not terminated, as ReadMappedPath's
    while (given != nullptr && bytes < room && given[bytes] != '\0') {
      path[bytes] = given[bytes];
      ++bytes;
    }
    if (bytes != 0 && given[bytes] == '\0') return bytes;
  }
  const long n = kernel::ReadLink("/proc/thread-self/exe", path, room);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

}  // namespace memprof
