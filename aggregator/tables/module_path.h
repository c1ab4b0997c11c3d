// ModulePath: the absolute path of a file that the loader has mapped.
//
// The loader's own name for it may be relative (a search path, dlopen("./x.so")) to the program's
// directory at that time, which nobody knows later. /proc/thread-self/maps has the absolute path of
// what is mapped there. If it can't be read, the name is taken as relative to the current
// directory.
//
// Thread safety: any thread, also in a signal handler. Behind a filter it makes only the system
// calls of allocators: the name is then the loader's, as it is if there is no memory.
// Memory: a page, for a name that is not absolute.
#pragma once

#include <dlfcn.h>

#include <cstddef>

namespace memprof {

class ModulePath {
 public:
  // `program` is the path of the program, for which the loader has no name.
  ModulePath(const dl_find_object& object, const char* program, size_t program_bytes);
  ~ModulePath();
  ModulePath(const ModulePath&) = delete;
  ModulePath& operator=(const ModulePath&) = delete;

  const char* text() const { return text_; }  // not terminated: `bytes` long
  size_t bytes() const { return bytes_; }

 private:
  struct Room;

  Room* room_ = nullptr;
  const char* text_;
  size_t bytes_;
};

// The length of a path without the suffix that the kernel adds to a deleted file's name. `path` has
// a byte of room after `bytes`.
size_t WithoutDeleted(char* path, size_t bytes);

}  // namespace memprof
