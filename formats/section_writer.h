// A section's bytes, at the end of a capture that is being written.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>

#include "formats/byte_writer.h"

namespace memprof {

// Compressed where that is smaller.
void AppendSection(ByteWriter& out, uint32_t type, const std::string& raw, uint32_t flags = 0);

// The end section, after so many others.
void AppendEnd(ByteWriter& out, uint64_t sections);

}  // namespace memprof
