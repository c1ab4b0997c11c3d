// ProgramPath: the absolute path of the program that this process runs.
//
// Usually that is /proc/thread-self/exe. Where a link to it with another name was executed, it is
// the link, since that is the name that the program is known by. A program may be started through
// the loader ("ld-linux-x86-64.so.2 ./program", as bundled applications do). Then the executable is
// the loader, and the loader's record of the program has no name. The path is then that of the file
// mapped at the program's addresses.
//
// Thread safety: any thread. No allocation, no stdio, no cancellation point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memprof {

// Returns the number of bytes written to `path`, without a 0; 0: it isn't known.
size_t ReadProgramPath(char* path, size_t room);

// The absolute path of a name that is relative to the current directory; an absolute name stays as
// it is. The result is as ReadProgramPath's.
size_t PathFromHere(std::string_view name, char* path, size_t room);

// The file that is mapped at an address, according to a list in the format of /proc/self/maps that
// is read from `fd`.
size_t ReadMappedPath(int fd, unsigned long address, char* path, size_t room);

// The ranges of /proc/PID/maps, one after another.
class MappedRanges {
 public:
  explicit MappedRanges(int fd) : fd_(fd) {}

  // False: there are no more ranges.
  bool Next(uintptr_t* begin, uintptr_t* end);
  // The file of the range that Next returned; call it once. The result is as ReadProgramPath's.
  size_t ReadPath(char* path, size_t room);

 private:
  int NextCharacter();  // -1: the end
  uintptr_t TakeHexadecimal();

  int fd_;
  int last_ = '\n';  // the character that was taken last
  size_t at_ = 0, end_ = 0;
  char buffer_[256];  // small, because there may be little room on the stack
};

}  // namespace memprof
