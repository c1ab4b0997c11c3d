// mlockall(). It makes all memory resident that may be accessed, and most of what the tracker shares
// with its supervisor was never touched: half a GiB a region, and a forked child has its parents'.
//
// So all is locked as it is touched (MCL_ONFAULT), and then the program's own mappings one by one as
// it asked for. A kernel without MCL_ONFAULT (before 4.4) locks all as ever.

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "aggregator/events/tables.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/kernel_calls.h"
#include "aggregator/life.h"
#include "aggregator/system_call_filters.h"
#include "aggregator/tables/program_path.h"

using namespace memprof;

namespace {

constexpr int kOnFault = 4;  // MCL_ONFAULT, which older headers lack

bool IsWithin(uintptr_t begin, const void* base, uint64_t bytes) {
  return base != nullptr && begin - reinterpret_cast<uintptr_t>(base) < bytes;
}

bool IsShared(uintptr_t begin) {
  const MappedRegion& mapped = RegionMapping();
  return IsWithin(begin, mapped.base, mapped.bytes) ||
         IsWithin(begin, mapped.children, mapped.children_bytes) ||
         IsWithin(begin, &process_region.header(), process_region.bytes());
}

// What can't be locked (a guard page) mlockall passes over too.
void LockAllButShared(int fd) {
  MappedRanges ranges(fd);
  for (uintptr_t begin = 0, end = 0; ranges.Next(&begin, &end);) {
    if (!IsShared(begin)) kernel::Call(SYS_mlock, begin, end - begin);
  }
}

}  // namespace

MEMPROF_HOOK int mlockall(int flags) {
  const bool populates = (flags & MCL_CURRENT) != 0 && (flags & kOnFault) == 0;
  const int fd = populates && Counting() && !SystemCallsFiltered()
                     ? kernel::Open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC)
                     : -1;
  if (fd < 0) return static_cast<int>(ResultAndErrno(kernel::Call(SYS_mlockall, flags)));
  long result = kernel::Call(SYS_mlockall, flags | kOnFault);
  if (result == -EINVAL) {
    result = kernel::Call(SYS_mlockall, flags);
  } else if (result == 0) {
    // From now on the kernel locks in full what is mapped.
    if ((flags & MCL_FUTURE) != 0) kernel::Call(SYS_mlockall, MCL_FUTURE);
    LockAllButShared(fd);
  }
  kernel::Close(fd);
  return static_cast<int>(ResultAndErrno(result));
}
