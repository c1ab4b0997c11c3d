// Injector: puts the tracker into a running process and takes it out again, by ptrace.
//
//   look      stop all threads, see where they are; nobody in the loader, one at a safe point? else
//             let them go and look again a little later
//   call      let the others go; that one calls dlopen and our entry points on a stack of ours
//   forget    (after a detach) stop all again; none in the tracker: give its memory back
//
// The others run while one calls: it may wait for a lock that they hold, as any thread does.
//
// Thread safety: all calls from one thread, which is the tracer. Failure: a sentence; the process
// is as it was before, but for the library, which stays loaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/attach/remote_thread.h"
#include "cli/attach/stack_check.h"
#include "cli/attach/target_process.h"
#include "core/result.h"

namespace memprof {

struct InjectionTimes {
  std::chrono::microseconds longest_stop{0};  // of any thread, in one piece
  int looks = 0;                              // until a safe point was found
};

class Injector {
 public:
  explicit Injector(TargetProcess& target) : target_(target) {}

  // Loads `library` and has it connect to `socket`.
  Result<void> Attach(const std::string& library, const std::string& socket);
  // Unhooks. Gives how many slots were put back.
  Result<uint64_t> Detach();
  // After a Detach. The error: why the tracker's memory has to stay.
  Result<void> Forget();

  const InjectionTimes& times() const { return times_; }

 private:
  struct Stopped {
    std::vector<RemoteThread> threads;
    std::chrono::steady_clock::time_point since;
  };

  Result<Stopped> StopAll();
  // Those that stand still first: for one that doesn't stop the others need not wait.
  void LetGo(std::vector<RemoteThread>& threads, std::chrono::steady_clock::time_point since);
  // What is left in `threads` doesn't stop (in vfork() it can't), and is waited for when let go.
  void LetStoppedGo(std::vector<RemoteThread>& threads,
                    std::chrono::steady_clock::time_point since);
  // One at a safe point, stopped and ready to call; the others run.
  Result<RemoteThread> SafeThread();
  Result<CallPlaces> FindPlaces();
  Result<void> MapStack(RemoteThread& thread, CallPlaces& places);
  void Done(RemoteThread& thread, const CallPlaces& places);
  Result<uint64_t> CallOurs(RemoteThread& thread, const CallPlaces& places, const char* name,
                            std::initializer_list<uint64_t> arguments);
  Result<void> Load(RemoteThread& thread, const CallPlaces& places, const std::string& library);

  TargetProcess& target_;
  InjectionTimes times_;
  std::chrono::steady_clock::time_point stopped_since_;
  uint64_t stack_ = 0;
  std::vector<RemoteThread> not_stopped_;  // until the call in the other one is done
};

}  // namespace memprof
