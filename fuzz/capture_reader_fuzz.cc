// Any bytes as a capture: read or refused, and dumped. A capture that was read is written and read
// again. Sections are changed behind their checksums (sections_mutator.h).

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/capture/capture_dump.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"
#include "fuzz/sections_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto content = memprof::DecodeCapture(bytes);
  (void)memprof::DumpCapture(bytes);
  if (!content) return 0;
  const auto again =
      memprof::DecodeCapture(memprof::EncodeCapture(memprof::Canonical(content->snapshot)));
  if (!again || again->snapshot != memprof::Canonical(content->snapshot)) std::abort();
  if (content->symbols.empty()) return 0;
  const auto raw = memprof::EncodeSymbols(content->symbols);
  memprof::StoredSymbols symbols;
  if (!raw ||
      !memprof::DecodeSymbols(*raw, content->snapshot.modules.size(),
                              content->snapshot.frames.size(), symbols) ||
      symbols != content->symbols) {
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return memprof::MutateCapture(data, size, max_size, seed);
}
