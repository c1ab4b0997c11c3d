#include "formats/capture/section_writer.h"

#include <zstd.h>

#include "formats/capture/capture_checksum.h"
#include "formats/capture/capture_format.h"

namespace memprof {

namespace cf = capture_format;

void AppendSection(ByteWriter& out, uint32_t type, const std::string& raw, uint32_t flags) {
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), cf::kZstdLevel);
  const bool use_packed = ZSTD_isError(size) == 0 && size < raw.size();
  packed.resize(use_packed ? size : 0);
  const std::string& stored = use_packed ? packed : raw;
  flags |= use_packed ? cf::kFlagZstd : 0;
  out.Fixed(type);
  out.Fixed(flags);
  out.Fixed(uint64_t{stored.size()});
  out.Fixed(uint64_t{raw.size()});
  out.Fixed(SectionChecksum(type, flags, raw.size(), stored));
  out.Raw(stored);
}

void AppendEnd(ByteWriter& out, uint64_t sections) {
  ByteWriter content;
  content.Varint(sections);
  AppendSection(out, cf::kEnd, content.bytes());
}

}  // namespace memprof
