// What else of the host the tracker must notice: unloads and new names of threads. Each calls the
// real function and returns its result.

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "aggregator/hooks/errno_guard.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/system_calls.h"

using namespace memprof;

namespace {

void ThisThreadRenamed() {
  const ErrnoGuard keep;
  if (Counting()) OnThreadRenamed(static_cast<uint32_t>(syscall(SYS_gettid)));
}

}  // namespace

extern "C" {

MEMPROF_HOOK int dlclose(void* handle) {
  auto* next = Next<int(void*)>(NextFunction::dlclose, MEMPROF_RETURN());
  if (next == nullptr) return -1;
  const bool counting_now = Counting();
  if (counting_now) BeforeModulesChange();
  const int status = next(handle);
  const ErrnoGuard keep;
  ForgetClosedCallers();
  if (counting_now) AfterModulesChange();
  return status;
}

// Renames of other threads take effect at that thread's next allocation after it is known here:
// its kernel name is read again.
MEMPROF_HOOK int pthread_setname_np(pthread_t thread, const char* name) {
  auto* next =
      Next<int(pthread_t, const char*)>(NextFunction::pthread_setname_np, MEMPROF_RETURN());
  if (next == nullptr) return ENOSYS;
  const int status = next(thread, name);
  if (status != 0) return status;
  if (pthread_equal(thread, pthread_self()) != 0) {
    ThisThreadRenamed();
  } else if (Counting()) {
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
  // Without privileges PR_SET_NO_NEW_PRIVS comes first; libseccomp always does it.
  if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) {
    const bool strict = option == PR_SET_SECCOMP && arguments[0] == SECCOMP_MODE_STRICT;
    AllowOnly(strict ? SystemCalls::kNone : SystemCalls::kOfAllocators);
  }
  auto* next = Next<int(int, unsigned long, unsigned long, unsigned long, unsigned long)>(
      NextFunction::prctl, MEMPROF_RETURN());
  if (next == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int status = next(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (option == PR_SET_NAME && status == 0) ThisThreadRenamed();
  return status;
}

}  // extern "C"
