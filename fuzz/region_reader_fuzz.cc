// A region that somebody else wrote: any bytes over the header and the first of each table.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/region_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  memprof::RegionHeader header = {};
  const uint64_t bytes = memprof::LayOutRegion(header, 1 << 20);
  // Sparse: what is not written is a hole, which costs nothing.
  (void)!ftruncate(fd, 0);
  (void)!ftruncate(fd, static_cast<off_t>(bytes));
  (void)!pwrite(fd, &header, sizeof header, 0);
  // The first byte says whether the layout itself is hostile too.
  const bool hostile_layout = size != 0 && data[0] % 2 == 1;
  size_t at = 1;
  auto put = [&](uint64_t offset, uint64_t wanted) {
    if (at >= size || offset >= bytes) return;
    const uint64_t n = std::min({wanted, uint64_t{size - at}, bytes - offset});
    (void)!pwrite(fd, data + at, n, static_cast<off_t>(offset));
    at += n;
  };
  const uint64_t counts = offsetof(memprof::RegionHeader, state);
  put(hostile_layout ? 0 : counts, sizeof header - (hostile_layout ? 0 : counts));
  for (const memprof::TableInfo& table : header.tables) put(table.offset, 256);
  (void)memprof::ReadRegion(fd, {});
  (void)memprof::ReadPeak(fd);
  return 0;
}
