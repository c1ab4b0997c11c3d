// The checksum of a section: XXH64 over its type, flags and raw length (little endian, 16 bytes)
// and its stored bytes. It detects a damaged header, too.
#pragma once

#include <cstdint>
#include <string_view>

namespace memprof {

uint64_t SectionChecksum(uint32_t type, uint32_t flags, uint64_t raw_bytes,
                         std::string_view stored);

}  // namespace memprof
