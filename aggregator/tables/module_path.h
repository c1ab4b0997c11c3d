// ModulePath: the path of a file that the loader has mapped, from the root on.
//
// The loader's own name of it may be relative (a search path, dlopen("./x.so")): to the directory
// that the program was in then, which nobody knows later. What the kernel has mapped there has its
// whole path in /proc/thread-self/maps; without that it is taken to be relative to the directory
// now.
//
// Thread safety: any thread, also in a signal handler. No system call but those of allocators
// behind a filter: the name is the loader's then, as it is where there is no memory.
// Memory: a page, for a name that is not from the root on.
#pragma once

#include <dlfcn.h>

#include <cstddef>

namespace memprof {

class ModulePath {
 public:
  // `program`: the path of the program, which the loader has no name for.
  ModulePath(const dl_find_object& object, const char* program, size_t program_bytes);
  ~ModulePath();
  ModulePath(const ModulePath&) = delete;
  ModulePath& operator=(const ModulePath&) = delete;

  const char* text() const { return text_; }  // `bytes` of it
  size_t bytes() const { return bytes_; }

 private:
  struct Room;

  Room* room_ = nullptr;
  const char* text_;
  size_t bytes_;
};

// How much of a path is its name where the kernel says behind it that the file was deleted. `path`
// has a byte of room behind `bytes`.
size_t WithoutDeleted(char* path, size_t bytes);

}  // namespace memprof
