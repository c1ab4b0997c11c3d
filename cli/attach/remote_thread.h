// RemoteThread: a thread of another process under ptrace. It is stopped, made to call a function on
// a stack that we provide, and released in its old state.
//
// A call restores all that it changes: all registers, including the vector unit's, and the signal
// mask. A system call that the stop interrupted continues. The kernel restarts some by itself;
// those that it would end with EINTR are restarted because the instruction pointer is set back
// before them. If a signal's handler is to run first, they end with EINTR as they do without us.
//
// Thread safety: one tracer: all calls from the thread that called Seize.
// Failure: false or nullopt; the thread may have ended.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace memprof {

// The addresses in the process that a call needs.
struct CallPlaces {
  uint64_t trap = 0;       // an int3: functions return to it
  uint64_t syscall = 0;    // a syscall instruction
  uint64_t stack_top = 0;  // the end of a stack of ours; 0: none is allocated yet
};

class RemoteThread {
 public:
  // `error` is errno: EPERM, ESRCH.
  static std::optional<RemoteThread> Seize(pid_t process, pid_t thread, int& error);

  RemoteThread(RemoteThread&& other) noexcept;
  RemoteThread& operator=(RemoteThread&& other) noexcept;
  ~RemoteThread();  // releases the thread in its old state

  pid_t id() const { return thread_; }
  bool stopped() const { return stopped_; }

  // Asks the thread to stop, then waits for it. False if it ended, or doesn't stop in time.
  bool Interrupt();
  bool AwaitStop(std::chrono::steady_clock::time_point until);

  // Whether a system call of it was set back, whose timeout begins anew.
  bool set_back() const { return set_back_; }
  // Whether the kernel restarts a call of it that has a timeout. Some other calls make it forget that.
  bool restarts() const;
  // The number of the system call that the stop interrupted; -1: none.
  int64_t interrupted_call() const;

  // Precondition of all functions below: stopped.
  const user_regs_struct& registers() const { return registers_; }

  // Begins a series of calls, and ends it: the thread's old state is restored.
  bool BeginCalls();
  void EndCalls();

  // The system call's result, as the kernel gives it (-errno).
  std::optional<int64_t> SystemCall(const CallPlaces& places, int64_t number,
                                    std::initializer_list<uint64_t> arguments);
  // Makes the process a copy of itself that never runs: a child without descriptors, whose end
  // sends no signal, and that waitpid() finds only with __WALL. The copy is stopped, is traced by us,
  // and dies with us. Within a series of calls. -errno: the kernel made none. `if_it_stalls` is called
  // if it takes some seconds: it waits for another thread then, which may have to go on.
  std::optional<int64_t> CopyProcess(const CallPlaces& places,
                                     const std::function<void()>& if_it_stalls);

  // All of the thread's registers but the general ones, as the kernel gives them; empty: not known.
  std::vector<unsigned char> VectorRegisters() const;

  // The function's result. Waits until it returns: other threads may delay it. If there is no
  // result, `failure` says why. `meanwhile` is called again and again while it waits.
  std::optional<uint64_t> Call(const CallPlaces& places, uint64_t function,
                               std::initializer_list<uint64_t> arguments, std::string& failure,
                               const std::function<void()>& meanwhile);

  // Releases the thread in its old state, and stops tracing it.
  void Release();

 private:
  RemoteThread(pid_t process, pid_t thread) : process_(process), thread_(thread) {}
  bool Wait(int& status, std::chrono::steady_clock::time_point until,
            const std::function<void()>& meanwhile = {});
  bool StopInCall();
  void RestartInterruptedCall();
  void LeaveInterruptedCall();
  bool SetRegisters(user_regs_struct registers);
  void KeepSignal();
  int GiveSignals();

  pid_t process_ = 0;
  pid_t thread_ = 0;
  bool seized_ = false;
  bool stopped_ = false;
  std::vector<siginfo_t> pending_signals_;  // arrived during the calls; delivered at the end
  bool at_signal_ = false;  // its last stop is one in which a signal can be given along
  user_regs_struct registers_ = {};
  bool set_back_ = false;  // the registers lead to an interrupted call, which is made again
  bool calling_ = false;
  std::vector<unsigned char> vector_state_;
  uint64_t signal_mask_ = 0;
};

}  // namespace memprof
