// Mutex: a std::mutex with annotations for clang's thread-safety analysis, which libstdc++'s lacks.
// In builds with clang, touching a GUARDED_BY member without its mutex is an error.
//
//   Mutex mutex_;
//   std::deque<Work> queue_ MEMPROF_GUARDED_BY(mutex_);
//
// To wait for a change: std::condition_variable_any, in a loop (the analysis treats a predicate as
// a separate function).
#pragma once

#include <mutex>

#ifdef __clang__
#define MEMPROF_ANNOTATION(attribute) __attribute__((attribute))
#else
#define MEMPROF_ANNOTATION(attribute)
#endif
#define MEMPROF_GUARDED_BY(mutex) MEMPROF_ANNOTATION(guarded_by(mutex))

namespace memprof {

class MEMPROF_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() MEMPROF_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() MEMPROF_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class MEMPROF_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MEMPROF_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() MEMPROF_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace memprof
