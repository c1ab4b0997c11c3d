// Appends a section's bytes to a capture that is being written.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>

#include "formats/capture/byte_writer.h"

namespace memprof {

// Compresses the content if that makes it smaller.
void AppendSection(ByteWriter& out, uint32_t type, const std::string& raw, uint32_t flags = 0);

// Appends the end section, with the number of sections before it.
void AppendEnd(ByteWriter& out, uint64_t sections);

}  // namespace memprof
