#include "aggregator/tables/program_path.h"

#include <fcntl.h>

#include "aggregator/kernel_calls.h"
#include "aggregator/libc_functions.h"

namespace memprof {
namespace {

// One character after another of what a descriptor gives.
class Characters {
 public:
  explicit Characters(int fd) : fd_(fd) {}

  // -1: there are no more.
  int Next() {
    if (at_ == end_) {
      const long n = kernel::Read(fd_, buffer_, sizeof buffer_);
      if (n <= 0) return -1;
      at_ = 0;
      end_ = static_cast<size_t>(n);
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

 private:
  int fd_;
  size_t at_ = 0, end_ = 0;
  char buffer_[256];  // there may be little room on the stack
};

// The number up to the character that ends it, which is taken too.
unsigned long TakeHexadecimal(Characters& characters, int* end) {
  unsigned long value = 0;
  for (;;) {
    const int c = characters.Next();
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) {
      *end = c;
      return value;
    }
    value = value << 4 | static_cast<unsigned long>(digit);
  }
}

}  // namespace

// "7f0443349000-7f044334c000 r-xp 00001000 fe:00 10005027   /usr/bin/program"
size_t ReadMappedPath(int fd, unsigned long address, char* path, size_t room) {
  Characters characters(fd);
  for (;;) {
    int c = 0;
    const unsigned long begin = TakeHexadecimal(characters, &c);
    if (c < 0) return 0;
    const unsigned long end = TakeHexadecimal(characters, &c);
    const bool wanted = address >= begin && address < end;
    // The path begins at the first '/': no field before it has one.
    size_t bytes = 0;
    while (c >= 0 && c != '\n') {
      if (wanted && (c == '/' || bytes != 0)) {
        if (bytes == room) return 0;
        path[bytes++] = static_cast<char>(c);
      }
      c = characters.Next();
    }
    if (wanted) return bytes;
    if (c < 0) return 0;
  }
}

// By this thread's part of /proc: that of the process has nothing when its main thread has ended.
bool MappedRanges::Next(uintptr_t* begin, uintptr_t* end) {
  for (;;) {
    if (at_ == end_) {
      const long n = kernel::Read(fd_, buffer_, sizeof buffer_);
      if (n <= 0) return false;
      at_ = 0;
      end_ = static_cast<size_t>(n);
    }
    const char c = buffer_[at_++];
    if (c == '\n') {
      field_ = 0;
      numbers_[0] = numbers_[1] = 0;
    } else if (field_ < 2) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit >= 0) {
        numbers_[field_] = numbers_[field_] << 4 | static_cast<uintptr_t>(digit);
      } else if (++field_ == 2) {
        *begin = numbers_[0];
        *end = numbers_[1];
        return true;
      }
    }
  }
}

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
