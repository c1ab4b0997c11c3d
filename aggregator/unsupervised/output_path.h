// OutputPath: the names of the files that MEMPROF_OUTPUT asks for (core/protocol/unsupervised.h).
//
//   attempt   x.memprof             x.%p.memprof
//   1         x.memprof             x.4711.memprof
//   2         x.4711.memprof        x.4711.2.memprof
//   3         x.4711.2.memprof      x.4711.3.memprof
//
// So the first process of all has the name itself. A descendant, a program that it executes, and
// every later process have their pid in the name.
//
// Thread safety: none. Memory: its own buffers. Failure: kLongest bytes of path are too long.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

class OutputPath {
 public:
  static constexpr size_t kLongest = 1023;

  // `directory` is the base of a relative pattern. False: the name is too long.
  bool Init(const char* pattern, const char* directory, const char* program);

  // The file's name; nullptr: it is too long. It belongs to this object, and is valid until the
  // next call.
  const char* Name(uint32_t pid, uint32_t attempt);
  // The folder that the file is in; likewise.
  const char* Folder();

  // True if the names differ only by the pid.
  bool HasPid() const { return has_pid_; }

  // True if a file of that name in the folder may be one of these.
  bool Fits(const char* file_name);

 private:
  static constexpr size_t kLongestProgram = 255;

  void Add(char c);
  void Add(const char* text);
  void AddNumber(uint32_t number);
  void AddExpanded(const char* from, const char* to, const char* pid_text, uint32_t pid);
  const char* Done();

  char pattern_[kLongest + 1] = {};
  char program_[kLongestProgram + 1] = {};
  const char* base_ = nullptr;       // in pattern_: the file's base name
  const char* extension_ = nullptr;  // in pattern_: its last dot, or its end
  bool has_pid_ = false;
  char text_[kLongest + 1] = {};
  size_t bytes_ = 0;  // more than kLongest: too long
};

}  // namespace memprof
