#include "formats/capture/capture_checksum.h"

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

#include "formats/capture/byte_writer.h"

namespace memprof {

uint64_t SectionChecksum(uint32_t type, uint32_t flags, uint64_t raw_bytes,
                         std::string_view stored) {
  ByteWriter head;
  head.Fixed(type);
  head.Fixed(flags);
  head.Fixed(raw_bytes);
  const uint64_t seed = XXH64(head.bytes().data(), head.bytes().size(), 0);
  return XXH64(stored.data(), stored.size(), seed);
}

}  // namespace memprof
