// Other calls of the program that the tracker must notice: unloads, new names of threads, and
// filters of system calls. Each calls the real function and returns its result.
//
// An allocator may call any of them under its lock. So none looks for a function in a way that
// locks or allocates. prctl and syscall can go to the kernel directly.

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdarg>

#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/filter_program.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/events/modules_change.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/hooks/bypasses.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"

using namespace memprof;

namespace {

// pthread_self() of libc.
void* ThisThread() { return __builtin_thread_pointer(); }

// The process's first thread. In a child that another thread forked it doesn't exist any more;
// nobody asks for its name then.
constinit void* main_thread = nullptr;
[[gnu::constructor]] void OnLoaded() { main_thread = ThisThread(); }

// Stores the name where the supervisor looks if it has to tell whose name the process has. Pre:
// counting; the kernel accepted the name.
void TellName(const void* thread, const char* name) {
  if (thread != main_thread) return;
  // A child of vfork() has the same thread pointer as its parent.
  if (!SystemCallsFiltered() && kernel::Pid() != CurrentRegion().pid) return;
  uint64_t words[2] = {};
  for (size_t i = 0; i < sizeof words - 1 && name[i] != 0; ++i) {
    words[i / 8] |= uint64_t{static_cast<unsigned char>(name[i])} << i % 8 * 8;
  }
  auto& told = CurrentRegion().main_thread_name;
  told[0].store(words[0], std::memory_order_relaxed);
  told[1].store(words[1], std::memory_order_relaxed);
}

void ThisThreadRenamed(const char* name) {
  if (!Counting()) return;
  TellName(ThisThread(), name);
  OnThreadRenamed(SystemCallsFiltered() ? kEveryThread : kernel::Tid());
}

// From the call on that is about to be made, the tracker may make none.
void NoteNoCalls() {
  if (CountsAnything()) stacks.Reserve();
  AllowOnly(SystemCalls::kNone);
}

// Called before the call: after it any system call of ours may be the last. A call without a
// filter's address only asks whether the kernel supports filters, and so does one for the strict
// mode with flags or an address: the kernel refuses it (libseccomp begins with such a call).
void NoteFilter(long number, unsigned long first, unsigned long second, unsigned long third) {
  const bool by_prctl = number == SYS_prctl && first == PR_SET_SECCOMP;
  const bool by_seccomp = number == SYS_seccomp;
  if ((by_prctl && second == SECCOMP_MODE_STRICT) ||
      (by_seccomp && first == SECCOMP_SET_MODE_STRICT && second == 0 && third == 0)) {
    NoteNoCalls();
  } else if (third != 0 && ((by_prctl && second == SECCOMP_MODE_FILTER) ||
                            (by_seccomp && first == SECCOMP_SET_MODE_FILTER))) {
    const auto* program = reinterpret_cast<const sock_fprog*>(third);
    AllowsAllocatorCalls(*program) ? AllowOnly(SystemCalls::kOfAllocators) : NoteNoCalls();
  }
}

// A program that has its own system calls sent to it as signals (Wine) must not get ours.
constexpr unsigned long kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH, since Linux 5.11
void NoteDispatch(unsigned long option, unsigned long mode) {
  if (option == kUserDispatch && mode != 0) AllowOnly(SystemCalls::kNone);
}

}  // namespace

extern "C" {

MEMPROF_HOOK int dlclose(void* handle) {
  auto* next = NextFromStart<int(void*)>(NextFunction::dlclose);
  if (next == nullptr) return -1;
  const bool counting_now = Counting();
  BeforeClose();
  if (counting_now) BeforeModulesChange();
  const int status = next(handle);
  const ErrnoGuard keep;
  ForgetClosedCallers();
  if (counting_now) AfterModulesChange();
  return status;
}

// A new name of another thread takes effect at that thread's next allocation after it is known
// here: its name is then read from the kernel again.
MEMPROF_HOOK int pthread_setname_np(pthread_t thread, const char* name) {
  auto* next = NextFromStart<int(pthread_t, const char*)>(NextFunction::pthread_setname_np);
  if (next == nullptr) return ENOSYS;
  const int status = next(thread, name);
  if (status != 0) return status;
  const ErrnoGuard keep;
  if (thread == reinterpret_cast<pthread_t>(ThisThread())) {
    ThisThreadRenamed(name);
  } else if (Counting()) {
    TellName(reinterpret_cast<const void*>(thread), name);
    OnThreadRenamed(kEveryThread);
  }
  return status;
}

MEMPROF_HOOK int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  NoteFilter(SYS_prctl, static_cast<unsigned long>(option), arguments[0], arguments[1]);
  auto* next = Known<int(int, unsigned long, unsigned long, unsigned long, unsigned long)>(
      NextFunction::prctl);
  const int status =
      next != nullptr
          ? next(option, arguments[0], arguments[1], arguments[2], arguments[3])
          : static_cast<int>(ResultAndErrno(kernel::Call(
                SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3])));
  if (status == 0) NoteDispatch(static_cast<unsigned long>(option), arguments[0]);
  if (option == PR_SET_NAME && status == 0) {
    const ErrnoGuard keep;
    ThisThreadRenamed(reinterpret_cast<const char*>(arguments[0]));
  }
  return status;
}

// syscall() for the calls that memprof_syscall hands over.
__attribute__((visibility("hidden"), used)) long memprof_noted_syscall(
    long number, unsigned long first, unsigned long second, unsigned long third,
    unsigned long fourth, unsigned long fifth) {
  NoteFilter(number, first, second, third);
  const long result = kernel::Call(number, first, second, third, fourth, fifth);
  if (number == SYS_prctl && result == 0) NoteDispatch(first, second);
  if (number == SYS_prctl && first == PR_SET_NAME && result == 0) {
    const ErrnoGuard keep;
    ThisThreadRenamed(reinterpret_cast<const char*>(second));
  }
  return ResultAndErrno(result);
}

__attribute__((visibility("hidden"), used)) long memprof_failed_syscall(long result) {
  return ResultAndErrno(result);
}

}  // extern "C"
