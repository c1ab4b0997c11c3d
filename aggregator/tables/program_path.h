// ProgramPath: the file of the program that this process runs, as an absolute path.
//
// Mostly that is /proc/thread-self/exe. But a program may be started through the loader
// ("ld-linux-x86-64.so.2 ./program", as bundled applications are): then the executable is the
// loader, the loader's record of the program has no name as ever, and what is mapped where the
// program lies has its file.
//
// Thread safety: any thread. No allocation, no stdio, no cancellation point.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

// The bytes that were written to `path`, without a 0; 0: it can't be told.
size_t ReadProgramPath(char* path, size_t room);

// The file that is mapped at an address, by a list as /proc/self/maps has it that can be read from
// `fd`.
size_t ReadMappedPath(int fd, unsigned long address, char* path, size_t room);

// The ranges of what /proc/PID/maps gives, one after another.
class MappedRanges {
 public:
  explicit MappedRanges(int fd) : fd_(fd) {}

  // False: there are no more.
  bool Next(uintptr_t* begin, uintptr_t* end);
  // The file of the range that Next gave, once; the bytes as ReadProgramPath's.
  size_t ReadPath(char* path, size_t room);

 private:
  int NextCharacter();  // -1: there are no more
  uintptr_t TakeHexadecimal();

  int fd_;
  int last_ = '\n';  // the character that was taken last
  size_t at_ = 0, end_ = 0;
  char buffer_[256];  // there may be little room on the stack
};

}  // namespace memprof
