#include "aggregator/tables/program_path.h"

#include <fcntl.h>

#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"

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

// Reads up to and including the character that ends the number.
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
  // The path begins at the first '/': no field before it has one.
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

namespace {

std::string_view LastName(std::string_view path) {
  // npos + 1 is 0. substr would need a function of libstdc++ that throws.
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

// As it was given to execve; empty: not known.
std::string_view ExecutedName() {
  const char* given = reinterpret_cast<const char*>(AuxiliaryValue(AT_EXECFN));
  return given != nullptr ? std::string_view(given) : std::string_view();
}

// The kernel's own links (/proc/self/exe, /dev/fd/3) are no names.
bool IsKernelsLink(std::string_view name) {
  return name.starts_with("/proc/") || name.starts_with("/dev/");
}

bool HasOtherName(std::string_view executable) {
  const std::string_view name = ExecutedName();
  return !name.empty() && !IsKernelsLink(name) && LastName(name) != LastName(executable);
}

// The path that was executed, where it is a link to the executable under another name: Debian's
// redis-server is a link to redis-check-rdb. 0: it isn't.
size_t ReadLinkedName(char* path, size_t room) {
  const size_t bytes = PathFromHere(ExecutedName(), path, room - 1);
  if (bytes == 0) return 0;
  path[bytes] = '\0';
  struct stat linked, real;
  if (kernel::Stat(path, &linked) != 0 || kernel::Stat("/proc/thread-self/exe", &real) != 0 ||
      linked.st_dev != real.st_dev || linked.st_ino != real.st_ino) {
    return 0;
  }
  return bytes;
}

}  // namespace

size_t PathFromHere(std::string_view name, char* path, size_t room) {
  size_t bytes = 0;
  if (!name.starts_with('/')) {
    const long with_end = kernel::Call(SYS_getcwd, path, room);
    if (with_end <= 1 || path[0] != '/') return 0;
    bytes = static_cast<size_t>(with_end - 1);
    if (bytes == room) return 0;
    if (path[bytes - 1] != '/') path[bytes++] = '/';
  }
  if (name.size() > room - bytes) return 0;
  memcpy(path + bytes, name.data(), name.size());
  return bytes + name.size();
}

// By this thread's part of /proc: that of the process is empty when its main thread has ended.
size_t ReadProgramPath(char* path, size_t room) {
  // The kernel passes the base of the loader that it mapped for a program. For a loader that is
  // itself the executable it passes 0.
  if (AuxiliaryValue(AT_BASE) == 0) {
    const int fd = kernel::Open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      const size_t bytes = ReadMappedPath(fd, AuxiliaryValue(AT_PHDR), path, room);
      kernel::Close(fd);
      if (bytes != 0) return bytes;
    }
    const std::string_view given = ExecutedName();
    if (!given.empty() && given.size() <= room) {
      memcpy(path, given.data(), given.size());
      return given.size();
    }
  }
  long n = kernel::ReadLink("/proc/thread-self/exe", path, room);
  if (n > 0 && HasOtherName({path, static_cast<size_t>(n)})) {
    const size_t linked = ReadLinkedName(path, room);
    if (linked != 0) return linked;
    n = kernel::ReadLink("/proc/thread-self/exe", path, room);
  }
  return n > 0 ? static_cast<size_t>(n) : 0;
}

}  // namespace memprof
