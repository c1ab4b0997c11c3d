// Mutations of a capture that get past its checksums: one section's content is changed and the
// section is sealed again. Plain bytes are changed now and then, to cover damage too.
//
// Thread safety: none. A capture that can't be split into sections is changed as plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

// As LLVMFuzzerCustomMutator.
size_t MutateCapture(uint8_t* data, size_t size, size_t max_size, unsigned seed);

}  // namespace memprof
