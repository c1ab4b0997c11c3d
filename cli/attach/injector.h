// Injector: puts the tracker into a running process and takes it out again, by ptrace.
//
//   look      stop all threads and check where they are. If none is in the loader and one is at a
//             safe point, go on; else release them and look again a little later
//   call      release the other threads; the safe one calls dlopen and our entry points on a stack
//             of ours
//   forget    (after a detach) stop all again; if none is in the tracker, give its memory back
//
// The other threads run during the call: it may wait for a lock that they hold, as any thread does.
//
// Thread safety: all calls from one thread, which is the tracer. Failure: a sentence; the process
// is as it was before, except that the library stays loaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/attach/remote_thread.h"
#include "cli/attach/stack_check.h"
#include "cli/attach/target_process.h"
#include "core/result.h"

namespace memprof {

struct InjectionTimes {
  std::chrono::microseconds longest_stop{0};  // the longest uninterrupted stop of any thread
  int looks = 0;                              // looks until a safe point was found
};

class Injector {
 public:
  explicit Injector(TargetProcess& target) : target_(target) {}

  // Loads `library` and makes it connect to `socket`.
  Result<void> Attach(const std::string& library, const std::string& socket);
  // Unhooks. Returns the number of GOT slots that were restored.
  Result<uint64_t> Detach();
  // Call it after a Detach. The error says why the tracker's memory has to stay.
  Result<void> Forget();

  const InjectionTimes& times() const { return times_; }

 private:
  struct Stopped {
    std::vector<RemoteThread> threads;
    std::chrono::steady_clock::time_point since;
  };

  // Fails if the process has executed another program.
  Result<Stopped> StopAll();
  // Releases the stopped threads first: they need not wait for one that doesn't stop.
  void LetGo(std::vector<RemoteThread>& threads, std::chrono::steady_clock::time_point since);
  // The threads left in `threads` have not stopped (in vfork() they can't); they are waited for when
  // released.
  void LetStoppedGo(std::vector<RemoteThread>& threads,
                    std::chrono::steady_clock::time_point since);
  // A thread at a safe point, stopped and ready to call; the others run.
  Result<RemoteThread> SafeThread();
  Result<CallPlaces> FindPlaces();
  Result<void> MapStack(RemoteThread& thread, CallPlaces& places);
  void Done(RemoteThread& thread, const CallPlaces& places);
  std::optional<uint64_t> Call(RemoteThread& thread, const CallPlaces& places, uint64_t function,
                               std::initializer_list<uint64_t> arguments, std::string& failure);
  Result<uint64_t> CallOurs(RemoteThread& thread, const CallPlaces& places, const char* name,
                            std::initializer_list<uint64_t> arguments);
  Result<void> Load(RemoteThread& thread, const CallPlaces& places, const std::string& library);

  TargetProcess& target_;
  InjectionTimes times_;
  std::chrono::steady_clock::time_point stopped_since_;
  uint64_t stack_ = 0;
  // Those that did not stop in time. One may stop at any moment, also with the loader's lock; during
  // a call it is released at once.
  std::vector<RemoteThread> not_stopped_;
};

}  // namespace memprof
