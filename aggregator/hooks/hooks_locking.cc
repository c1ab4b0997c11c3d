// mlockall(). It makes all accessible memory resident. Most of the memory that the tracker shares
// with its supervisor was never touched: half a GiB a region, and a forked child also has its
// parents'.
//
// So all memory is locked as it is touched (MCL_ONFAULT), and then the program's own mappings are
// locked one by one, as requested. A kernel without MCL_ONFAULT (before 4.4) locks everything.

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/basics/region.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/program_path.h"

using namespace memprof;

namespace {

constexpr int kOnFault = 4;  // MCL_ONFAULT, which older headers lack

bool IsWithin(uintptr_t begin, const void* base, uint64_t bytes) {
  return base != nullptr && begin - reinterpret_cast<uintptr_t>(base) < bytes;
}

// Also true for the tables of an attached tracker, which lie in a range of their own.
bool IsTheTrackers(uintptr_t begin) {
  const MappedRegion& mapped = mapped_region;
  return IsWithin(begin, mapped.base, mapped.bytes) ||
         IsWithin(begin, mapped.children, mapped.children_bytes) ||
         IsWithin(begin, &process_region.header(), process_region.bytes()) || IsInRange(begin);
}

// mlockall also skips what can't be locked (a guard page).
void LockTheProgramsOwn(int fd) {
  MappedRanges ranges(fd);
  for (uintptr_t begin = 0, end = 0; ranges.Next(&begin, &end);) {
    if (!IsTheTrackers(begin)) kernel::Call(SYS_mlock, begin, end - begin);
  }
}

long Lock(int flags) {
  const bool populates = (flags & MCL_CURRENT) != 0 && (flags & kOnFault) == 0;
  const int fd = populates && Counting() && !SystemCallsFiltered()
                     ? kernel::Open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC)
                     : -1;
  if (fd < 0) return kernel::Call(SYS_mlockall, flags);
  long result = kernel::Call(SYS_mlockall, flags | kOnFault);
  if (result == -EINVAL) {
    result = kernel::Call(SYS_mlockall, flags);
  } else if (result == 0) {
    // From now on the kernel locks new mappings in full.
    if ((flags & MCL_FUTURE) != 0) kernel::Call(SYS_mlockall, MCL_FUTURE);
    LockTheProgramsOwn(fd);
  }
  kernel::Close(fd);
  return result;
}

}  // namespace

MEMPROF_HOOK int mlockall(int flags) {
  const long result = Lock(flags);
  if (result == 0 && (flags & MCL_FUTURE) != 0 && (flags & kOnFault) == 0) NoteLockedMappings();
  return static_cast<int>(ResultAndErrno(result));
}
