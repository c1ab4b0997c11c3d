// RemoteThread: a thread of another process under ptrace: stopped, made to call a function on a
// stack that we give it, and let go as it was.
//
// What a call changes and is put back: all registers, the vector unit's too, and the signal mask. A
// system call that the stop interrupted goes on: those that the kernel restarts by themselves,
// those that it would end with EINTR because we set them back before it.
//
// Thread safety: one tracer: all calls from the thread that called Seize.
// Failure: false or nullopt; the thread may have ended.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace memprof {

// Addresses in the process that a call needs.
struct CallPlaces {
  uint64_t trap = 0;       // an int3: functions return to it
  uint64_t syscall = 0;    // a syscall instruction
  uint64_t stack_top = 0;  // the end of a stack of ours; 0: there is none yet
};

class RemoteThread {
 public:
  // The error is errno: EPERM, ESRCH.
  static std::optional<RemoteThread> Seize(pid_t process, pid_t thread, int& error);

  RemoteThread(RemoteThread&& other) noexcept;
  RemoteThread& operator=(RemoteThread&& other) noexcept;
  ~RemoteThread();  // lets it go on, as it was

  pid_t id() const { return thread_; }
  bool stopped() const { return stopped_; }

  // Asks it to stop; then waits for that. False: it ended, or doesn't stop in time.
  bool Interrupt();
  bool AwaitStop(std::chrono::steady_clock::time_point until);

  // Pre of all below: stopped.
  const user_regs_struct& registers() const { return registers_; }

  // Begins to call things, and ends it: everything as it was.
  bool BeginCalls();
  void EndCalls();

  // A system call's result, as the kernel gives it (-errno).
  std::optional<int64_t> SystemCall(const CallPlaces& places, int64_t number,
                                    std::initializer_list<uint64_t> arguments);
  // A function's result. Waits until it returns: other threads may hold it up. `failure`: why there
  // is none.
  std::optional<uint64_t> Call(const CallPlaces& places, uint64_t function,
                               std::initializer_list<uint64_t> arguments, std::string& failure);

  // Lets it go on, as it was, and out of our hands.
  void Release();

 private:
  RemoteThread(pid_t process, pid_t thread) : process_(process), thread_(thread) {}
  bool Wait(int& status, std::chrono::steady_clock::time_point until);
  void RestartInterruptedCall();
  bool SetRegisters(user_regs_struct registers);

  pid_t process_ = 0;
  pid_t thread_ = 0;
  bool seized_ = false;
  bool stopped_ = false;
  int pending_signal_ = 0;  // came while it called, and is delivered at the end
  user_regs_struct registers_ = {};
  bool calling_ = false;
  std::vector<unsigned char> vector_state_;
  uint64_t signal_mask_ = 0;
};

}  // namespace memprof
