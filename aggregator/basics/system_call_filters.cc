#include "aggregator/basics/system_call_filters.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstring>

namespace memprof {
namespace {

// An inherited filter hides later ones from PR_GET_SECCOMP.
constinit bool asks = false;

bool HasFilter() { return kernel::Call(SYS_prctl, PR_GET_SECCOMP) == SECCOMP_MODE_FILTER; }

// The number after `name` in the text; `otherwise` if there is none.
uint32_t NumberOf(const char* text, const char* name, uint32_t otherwise) {
  const char* at = strstr(text, name);
  if (at == nullptr) return otherwise;
  for (at += strlen(name); *at == ' ' || *at == '\t'; ++at) {
  }
  uint32_t number = 0;
  for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<uint32_t>(*at - '0');
  return number;
}

uint32_t CountFilters() {
  static char text[4096];  // static, because the stack may be small
  const int fd = kernel::Open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const long bytes = fd >= 0 ? kernel::Read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) kernel::Close(fd);
  if (bytes <= 0) return HasFilter() ? 1 : 0;
  text[bytes] = 0;
  if (NumberOf(text, "\nSeccomp:", 0) != SECCOMP_MODE_FILTER) return 0;
  return NumberOf(text, "\nSeccomp_filters:", 1);
}

}  // namespace

uint32_t InheritedFilters() {
  const uint32_t filters = CountFilters();
  asks = filters == 0;
  return filters;
}

bool SystemCallsFilteredByNow() {
  if (!SystemCallsFiltered() && asks && HasFilter()) AllowOnly(SystemCalls::kOfAllocators);
  return SystemCallsFiltered();
}

}  // namespace memprof
