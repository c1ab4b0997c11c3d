#include "cli/attach/remote_thread.h"

#include <elf.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/attach/target_process.h"
#include "cli/basics/proc_files.h"

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

namespace memprof {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxVectorState = 16384;  // AVX-512 with AMX's tiles
constexpr auto kCallLimit = std::chrono::seconds(30);
constexpr auto kCopyLimit = std::chrono::seconds(5);  // more than 200 GiB take
constexpr auto kThreadStopLimit = std::chrono::seconds(2);

constexpr uint64_t kSyscallBytes = 2;  // the instruction's length

// Numbers that older headers lack.
constexpr long kIoUringEnter = 426;
constexpr long kEpollPwait2 = 441;

// System calls that the kernel ends with EINTR when a thread is stopped, although no handler ran
// (signal(7)): those on sockets if they have a timeout. Each has done nothing by then, since it
// would return how much it has done.
constexpr long kEndedByStops[] = {
    SYS_read,      SYS_write,          SYS_readv,        SYS_writev,        SYS_preadv2,
    SYS_pwritev2,  SYS_recvfrom,       SYS_recvmsg,      SYS_recvmmsg,      SYS_accept,
    SYS_accept4,   SYS_connect,        SYS_sendto,       SYS_sendmsg,       SYS_sendmmsg,
    SYS_sendfile,  SYS_splice,         SYS_epoll_wait,   SYS_epoll_pwait,   kEpollPwait2,
    SYS_semop,     SYS_semtimedop,     SYS_io_getevents, SYS_io_pgetevents, kIoUringEnter,
    SYS_fallocate, SYS_rt_sigtimedwait};

void* Data(uint64_t value) { return reinterpret_cast<void*>(value); }

constexpr uint64_t SignalBit(int number) { return uint64_t{1} << (number - 1); }

constexpr uint64_t kIgnoredByDefault =
    SignalBit(SIGCHLD) | SignalBit(SIGURG) | SignalBit(SIGWINCH) | SignalBit(SIGCONT);

// Whether a signal waits for the thread that would end a system call. While a thread is traced, the
// kernel also keeps signals that nobody handles (SIGCHLD of any program with children).
bool AwaitsSignal(pid_t process, pid_t thread) {
  const std::string status = ProcText(process, fmt::format("task/{}/status", thread));
  const auto signals = [&status](std::string_view name) -> uint64_t {
    const size_t at = status.find(name);
    return at == std::string::npos ? 0
                                   : std::strtoull(status.c_str() + at + name.size(), nullptr, 16);
  };
  const uint64_t pending = (signals("\nSigPnd:") | signals("\nShdPnd:")) & ~signals("\nSigBlk:");
  return (pending & (signals("\nSigCgt:") | ~(signals("\nSigIgn:") | kIgnoredByDefault))) != 0;
}

}  // namespace

std::optional<RemoteThread> RemoteThread::Seize(pid_t process, pid_t thread, int& error) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    error = errno;
    return std::nullopt;
  }
  RemoteThread seized(process, thread);
  seized.seized_ = true;
  return seized;
}

RemoteThread::RemoteThread(RemoteThread&& other) noexcept { *this = std::move(other); }

RemoteThread& RemoteThread::operator=(RemoteThread&& other) noexcept {
  if (this == &other) return *this;
  Release();
  process_ = other.process_;
  thread_ = other.thread_;
  seized_ = std::exchange(other.seized_, false);
  stopped_ = other.stopped_;
  pending_signals_ = std::move(other.pending_signals_);
  at_signal_ = other.at_signal_;
  registers_ = other.registers_;
  set_back_ = other.set_back_;
  calling_ = other.calling_;
  vector_state_ = std::move(other.vector_state_);
  signal_mask_ = other.signal_mask_;
  return *this;
}

RemoteThread::~RemoteThread() { Release(); }

bool RemoteThread::Wait(int& status, steady_clock::time_point until,
                        const std::function<void()>& meanwhile) {
  for (useconds_t pause = 20;;) {
    if (meanwhile) meanwhile();
    const pid_t changed = waitpid(thread_, &status, __WALL | WNOHANG);
    if (changed == thread_) {
      at_signal_ = WIFSTOPPED(status) && status >> 16 == 0;
      if (WIFSTOPPED(status)) return true;
      seized_ = stopped_ = false;  // the thread has ended
      return false;
    }
    if (changed < 0 && errno != EINTR) {
      seized_ = stopped_ = false;
      return false;
    }
    if (steady_clock::now() >= until) return false;
    usleep(pause);
    pause = std::min<useconds_t>(pause * 2, 500);
  }
}

bool RemoteThread::restarts() const {
  constexpr int64_t kRestartBlock = 516;  // the kernel's ERESTART_RESTARTBLOCK
  return stopped_ && static_cast<int64_t>(registers_.rax) == -kRestartBlock;
}

int64_t RemoteThread::interrupted_call() const {
  if (!stopped_) return -1;
  return static_cast<int64_t>(set_back_ ? registers_.rax : registers_.orig_rax);
}

bool RemoteThread::Interrupt() { return ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) == 0; }

bool RemoteThread::AwaitStop(steady_clock::time_point until) {
  if (stopped_) return true;
  for (int status = 0; Wait(status, until);) {
    if (status >> 16 == PTRACE_EVENT_STOP) {
      stopped_ = ptrace(PTRACE_GETREGS, thread_, nullptr, &registers_) == 0;
      if (stopped_) RestartInterruptedCall();
      return stopped_;
    }
    // A signal of the program's is delivered first.
    const auto number = static_cast<uint64_t>(WSTOPSIG(status));
    if (ptrace(PTRACE_CONT, thread_, nullptr, Data(number)) != 0) return false;
  }
  return false;
}

// The signal for which it stops now, if it isn't of a step of ours, is delivered at the end, with all
// that the kernel said of it: a handler may need the address of a fault.
void RemoteThread::KeepSignal() {
  siginfo_t signal;
  if (!at_signal_ || ptrace(PTRACE_GETSIGINFO, thread_, nullptr, &signal) != 0) return;
  const bool is_ours =
      signal.si_signo == SIGTRAP && signal.si_code > 0 && signal.si_code != SI_KERNEL;
  if (!is_ours) pending_signals_.push_back(signal);
}

// If a signal's handler is about to run, EINTR is what the program expects.
void RemoteThread::RestartInterruptedCall() {
  const auto number = static_cast<long>(registers_.orig_rax);
  if (static_cast<int64_t>(registers_.rax) != -EINTR ||
      std::find(std::begin(kEndedByStops), std::end(kEndedByStops), number) ==
          std::end(kEndedByStops)) {
    return;
  }
  if (AwaitsSignal(process_, thread_)) return;
  registers_.rip -= kSyscallBytes;
  registers_.rax = registers_.orig_rax;
  registers_.orig_rax = ~0ull;
  set_back_ = ptrace(PTRACE_SETREGS, thread_, nullptr, &registers_) == 0;
}

// A signal may have come during the stop. If its handler ran before the call was made again, the
// program would wait although it was told to wake.
void RemoteThread::LeaveInterruptedCall() {
  if (!std::exchange(set_back_, false)) return;
  if (pending_signals_.empty() && !AwaitsSignal(process_, thread_)) return;
  registers_.rip += kSyscallBytes;
  registers_.rax = static_cast<uint64_t>(-EINTR);
  ptrace(PTRACE_SETREGS, thread_, nullptr, &registers_);
}

bool RemoteThread::SetRegisters(user_regs_struct registers) {
  constexpr uint64_t kTrapFlag = 0x100;
  constexpr uint64_t kDirectionFlag = 0x400;
  registers.eflags &= ~(kTrapFlag | kDirectionFlag);
  registers.orig_rax = ~0ull;  // no system call is to be restarted
  return ptrace(PTRACE_SETREGS, thread_, nullptr, &registers) == 0;
}

bool RemoteThread::BeginCalls() {
  vector_state_.resize(kMaxVectorState);
  iovec part = {vector_state_.data(), vector_state_.size()};
  if (ptrace(PTRACE_GETREGSET, thread_, NT_X86_XSTATE, &part) != 0) return false;
  vector_state_.resize(part.iov_len);
  if (ptrace(PTRACE_GETSIGMASK, thread_, sizeof signal_mask_, &signal_mask_) != 0) return false;
  // No handler of the program's runs during a call. Signals that the call itself raises must get
  // through; otherwise the kernel would forget the program's handler for them.
  uint64_t mask = ~uint64_t{0};
  for (const int number : {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) mask &= ~SignalBit(number);
  calling_ = ptrace(PTRACE_SETSIGMASK, thread_, sizeof mask, &mask) == 0;
  return calling_;
}

void RemoteThread::EndCalls() {
  if (!calling_) return;
  calling_ = false;
  iovec part = {vector_state_.data(), vector_state_.size()};
  ptrace(PTRACE_SETREGSET, thread_, NT_X86_XSTATE, &part);
  ptrace(PTRACE_SETSIGMASK, thread_, sizeof signal_mask_, &signal_mask_);
  ptrace(PTRACE_SETREGS, thread_, nullptr, &registers_);
}

std::optional<int64_t> RemoteThread::SystemCall(const CallPlaces& places, int64_t number,
                                                std::initializer_list<uint64_t> arguments) {
  user_regs_struct call = registers_;
  call.rip = places.syscall;
  call.rax = static_cast<uint64_t>(number);
  unsigned long long* const order[] = {&call.rdi, &call.rsi, &call.rdx,
                                       &call.r10, &call.r8,  &call.r9};
  size_t i = 0;
  for (const uint64_t argument : arguments) *order[i++] = argument;
  if (!SetRegisters(call)) return std::nullopt;
  const auto until = steady_clock::now() + kCallLimit;
  for (;;) {
    if (ptrace(PTRACE_SINGLESTEP, thread_, nullptr, nullptr) != 0) return std::nullopt;
    int status = 0;
    if (!Wait(status, until)) return std::nullopt;
    user_regs_struct after;
    if (ptrace(PTRACE_GETREGS, thread_, nullptr, &after) != 0) return std::nullopt;
    KeepSignal();
    if (after.rip == places.syscall + kSyscallBytes) return static_cast<int64_t>(after.rax);
  }
}

std::vector<unsigned char> RemoteThread::VectorRegisters() const {
  std::vector<unsigned char> state(kMaxVectorState);
  iovec part = {state.data(), state.size()};
  if (ptrace(PTRACE_GETREGSET, thread_, NT_X86_XSTATE, &part) != 0) part.iov_len = 0;
  state.resize(part.iov_len);
  return state;
}

namespace {

// A copy that shares the descriptors leaves them to the program, so that nothing is different there: an
// exec takes a table that is shared apart, and the program's file locks would go with the copy's. Linux
// 5.9; before, they stay shared.
void LeaveDescriptors(pid_t copy, const CallPlaces& places) {
  constexpr int kMostSteps = 16;
  constexpr uint64_t kCloseRange = 436;  // older headers lack it
  constexpr uint64_t kUnshare = 2;
  user_regs_struct own;
  if (ptrace(PTRACE_GETREGS, copy, nullptr, &own) != 0) return;
  user_regs_struct call = own;
  call.rip = places.syscall;
  call.rax = kCloseRange;
  call.orig_rax = static_cast<uint64_t>(-1);
  call.rdi = 0;
  call.rsi = ~uint32_t{0};
  call.rdx = kUnshare;
  if (ptrace(PTRACE_SETREGS, copy, nullptr, &call) != 0) return;
  user_regs_struct after = call;
  for (int i = 0; i < kMostSteps && after.rip != places.syscall + kSyscallBytes; ++i) {
    if (ptrace(PTRACE_SINGLESTEP, copy, nullptr, nullptr) != 0) return;
    int status = 0;
    pid_t waited;
    do {
      waited = waitpid(copy, &status, __WALL);
    } while (waited < 0 && errno == EINTR);
    if (waited != copy || !WIFSTOPPED(status)) return;
    if (ptrace(PTRACE_GETREGS, copy, nullptr, &after) != 0) return;
  }
  ptrace(PTRACE_SETREGS, copy, nullptr, &own);
}

}  // namespace

std::optional<int64_t> RemoteThread::CopyProcess(const CallPlaces& places,
                                                 const std::function<void()>& if_it_stalls) {
  constexpr uint64_t kNoStack = 8;  // it would fail at its first instruction
  user_regs_struct call = registers_;
  call.rip = places.syscall;
  call.rax = SYS_clone;
  call.rdi =
      CLONE_FILES;  // without it a pipe's other end would not see that the program closes one
  call.rsi = kNoStack;
  call.rdx = call.r10 = call.r8 = 0;
  // The kernel reports the copy as a clone, since its end sends no SIGCHLD.
  if (ptrace(PTRACE_SETOPTIONS, thread_, nullptr, Data(PTRACE_O_TRACECLONE)) != 0 ||
      !SetRegisters(call)) {
    return std::nullopt;
  }
  pid_t copy = 0;
  std::optional<int64_t> result;
  const auto since = steady_clock::now();
  bool stalled = false;
  while (!result) {
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, thread_, nullptr, nullptr) != 0) break;
    bool changed = Wait(status, since + (stalled ? kCallLimit : kCopyLimit));
    if (!changed && seized_ && !std::exchange(stalled, true)) {
      if_it_stalls();
      changed = Wait(status, since + kCallLimit);
    }
    if (!changed) break;
    user_regs_struct after;
    if (ptrace(PTRACE_GETREGS, thread_, nullptr, &after) != 0) break;
    if (status >> 16 == PTRACE_EVENT_CLONE) {
      unsigned long id = 0;
      if (ptrace(PTRACE_GETEVENTMSG, thread_, nullptr, &id) == 0) copy = static_cast<pid_t>(id);
      continue;
    }
    KeepSignal();
    if (after.rip == places.syscall + kSyscallBytes) result = static_cast<int64_t>(after.rax);
  }
  if (seized_) ptrace(PTRACE_SETOPTIONS, thread_, nullptr, nullptr);
  if (copy == 0) return result && *result < 0 ? result : std::nullopt;
  int status = 0;
  pid_t waited;
  do {
    waited = waitpid(copy, &status, __WALL);
  } while (waited < 0 && errno == EINTR);
  if (waited != copy || !WIFSTOPPED(status)) return std::nullopt;
  ptrace(PTRACE_SETOPTIONS, copy, nullptr, Data(PTRACE_O_EXITKILL));
  LeaveDescriptors(copy, places);
  return copy;
}

// Stops it in the middle of a call that doesn't return. The registers to restore stay as they are.
bool RemoteThread::StopInCall() {
  stopped_ = false;
  if (!Interrupt()) return false;
  const auto until = steady_clock::now() + kThreadStopLimit;
  for (int status = 0; Wait(status, until);) {
    if (status >> 16 == PTRACE_EVENT_STOP) return stopped_ = true;
    KeepSignal();
    if (ptrace(PTRACE_CONT, thread_, nullptr, nullptr) != 0) return false;
  }
  return false;
}

std::optional<uint64_t> RemoteThread::Call(const CallPlaces& places, uint64_t function,
                                           std::initializer_list<uint64_t> arguments,
                                           std::string& failure,
                                           const std::function<void()>& meanwhile) {
  user_regs_struct call = registers_;
  call.rip = function;
  call.rax = 0;
  call.rbp = 0;
  call.rsp = places.stack_top / 16 * 16 - 8;  // the stack's alignment after a call instruction
  unsigned long long* const order[] = {&call.rdi, &call.rsi, &call.rdx,
                                       &call.rcx, &call.r8,  &call.r9};
  size_t i = 0;
  for (const uint64_t argument : arguments) *order[i++] = argument;
  failure = "its thread can't be set to work";
  if (ptrace(PTRACE_POKEDATA, thread_, Data(call.rsp), Data(places.trap)) != 0 ||
      !SetRegisters(call)) {
    return std::nullopt;
  }
  const auto until = steady_clock::now() + kCallLimit;
  for (;;) {
    if (ptrace(PTRACE_CONT, thread_, nullptr, nullptr) != 0) return std::nullopt;
    int status = 0;
    if (!Wait(status, until, meanwhile)) {
      // It must not come back from the call when nobody waits for that any more: it would run into
      // the trap. So its old state is restored where it is.
      if (seized_) StopInCall();
      failure = seized_ ? fmt::format("its thread {} waits for another one, within a call of ours",
                                      thread_)
                        : "it ended meanwhile";
      return std::nullopt;
    }
    if (status >> 16 != 0) continue;
    user_regs_struct after;
    if (ptrace(PTRACE_GETREGS, thread_, nullptr, &after) != 0) return std::nullopt;
    const int number = WSTOPSIG(status);
    if (number == SIGTRAP && after.rip == places.trap + 1) return after.rax;
    if (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
        number == SIGTRAP) {
      failure = fmt::format("a call in it failed with signal {} at {:#x}", number, after.rip);
      return std::nullopt;
    }
    KeepSignal();
  }
}

namespace {

bool IsFault(const siginfo_t& signal) {
  return signal.si_code > 0 && (signal.si_signo == SIGSEGV || signal.si_signo == SIGBUS ||
                                signal.si_signo == SIGILL || signal.si_signo == SIGFPE);
}

}  // namespace

// The signals that were kept, of which one can be given along. The number of that; 0: none.
int RemoteThread::GiveSignals() {
  auto& signals = pending_signals_;
  // What the thread did itself goes first: another handler must not run before.
  std::stable_sort(signals.begin(), signals.end(), [](const siginfo_t& a, const siginfo_t& b) {
    return (a.si_code > 0) > (b.si_code > 0);
  });
  int given = 0;
  for (siginfo_t& signal : signals) {
    if (given == 0 && at_signal_ && ptrace(PTRACE_SETSIGINFO, thread_, nullptr, &signal) == 0) {
      given = signal.si_signo;
    } else if (!IsFault(signal)) {  // a fault comes again with the instruction
      syscall(SYS_tgkill, process_, thread_, signal.si_signo);
    }
  }
  signals.clear();
  return given;
}

void RemoteThread::Release() {
  if (!seized_) return;
  if (calling_ && !stopped_) StopInCall();
  if (stopped_) EndCalls();
  if (!stopped_) {
    // Only a stopped thread can be released.
    if (Interrupt()) AwaitStop(steady_clock::now() + kCallLimit);
  }
  if (stopped_) LeaveInterruptedCall();
  if (seized_) {
    const int number = stopped_ ? GiveSignals() : 0;
    ptrace(PTRACE_DETACH, thread_, nullptr, Data(static_cast<uint64_t>(number)));
  }
  seized_ = stopped_ = false;
}

}  // namespace memprof
