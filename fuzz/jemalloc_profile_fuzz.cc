// Any bytes as a heap profile of jemalloc's: refused in one line, or read with the properties that
// the header promises.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/jemalloc_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = memprof::ReadJemallocProfile(text);
  if (!profile) {
    const std::string& message = profile.error().message;
    if (message.empty() || message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (profile->sample_bytes == 0) std::abort();
  for (const auto& stack : profile->stacks) {
    if (stack.addresses.size() > memprof::kMaxJemallocFrames ||
        stack.live.bytes > stack.total.bytes || stack.live.allocations > stack.total.allocations) {
      std::abort();
    }
  }
  for (const auto& mapping : profile->mappings) {
    if (mapping.end <= mapping.start || mapping.path.empty()) std::abort();
  }
  return 0;
}
