// System calls, made by the instruction itself instead of libc's functions:
//
//   - They are no cancellation points. libc's open or read ends a thread with a pending
//     cancellation; malloc and exit() never do.
//   - They don't touch errno.
//   - They can't be replaced by a function of that name that the program defines.
//
// Each returns the kernel's result: a negative number is an error, -errno.
//
// Thread safety: any thread, also in a signal handler.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace memprof::kernel {

template <typename Argument>
inline long Word([[maybe_unused]] Argument argument) {
  if constexpr (std::is_null_pointer_v<Argument>) {
    return 0;
  } else if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<long>(argument);
  } else {
    return static_cast<long>(argument);
  }
}

template <typename A = long, typename B = long, typename C = long, typename D = long,
          typename E = long, typename F = long>
inline long Call(long number, A a = 0, B b = 0, C c = 0, D d = 0, E e = 0, F f = 0) {
  long result;
  register long fourth __asm__("r10") = Word(d);
  register long fifth __asm__("r8") = Word(e);
  register long sixth __asm__("r9") = Word(f);
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(Word(a)), "S"(Word(b)), "d"(Word(c)), "r"(fourth), "r"(fifth),
                     "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

// --- files ---------------------------------------------------------------------------------------

inline int Open(const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(Call(SYS_openat, AT_FDCWD, path, flags, mode));
}
inline void Close(int fd) { Call(SYS_close, fd); }
inline long Read(int fd, void* to, size_t bytes) { return Call(SYS_read, fd, to, bytes); }
inline long WriteAt(int fd, const void* from, size_t bytes, uint64_t offset) {
  return Call(SYS_pwrite64, fd, from, bytes, offset);
}
inline long Truncate(int fd, uint64_t bytes) { return Call(SYS_ftruncate, fd, bytes); }
inline long Stat(const char* path, struct stat* to, int flags = 0, int folder = AT_FDCWD) {
  return Call(SYS_newfstatat, folder, path, to, flags);
}
inline long Stat(int fd, struct stat* to) { return Call(SYS_fstat, fd, to); }
// The result isn't terminated by a 0.
inline long ReadLink(const char* path, char* to, size_t bytes) {
  return Call(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}

// --- memory --------------------------------------------------------------------------------------

// nullptr: an error. Nothing is ever mapped at 0 here.
inline void* Map(void* address, size_t bytes, int protection, int flags, int fd = -1) {
  const long result = Call(SYS_mmap, address, bytes, protection, flags, fd);
  return result < 0 && result >= -4095 ? nullptr : reinterpret_cast<void*>(result);
}
inline void Unmap(void* start, size_t bytes) { Call(SYS_munmap, start, bytes); }
inline bool Protect(void* start, size_t bytes, int protection) {
  return Call(SYS_mprotect, start, bytes, protection) == 0;
}
inline bool Advise(void* start, size_t bytes, int advice) {
  return Call(SYS_madvise, start, bytes, advice) == 0;
}

// --- the process ---------------------------------------------------------------------------------

inline uint32_t Pid() { return static_cast<uint32_t>(Call(SYS_getpid)); }
inline uint32_t Tid() { return static_cast<uint32_t>(Call(SYS_gettid)); }
inline void Yield() { Call(SYS_sched_yield); }

// RLIM_INFINITY if it can't be asked.
inline uint64_t Limit(int resource) {
  rlimit limit;
  return Call(SYS_prlimit64, 0, resource, nullptr, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace memprof::kernel
