#include "formats/capture/capture_sections.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

#include "formats/capture/byte_reader.h"
#include "formats/capture/capture_checksum.h"
#include "formats/capture/capture_format.h"

namespace memprof {
namespace {

namespace cf = capture_format;

uint64_t MostRawBytes(uint64_t file_bytes) {
  return std::min(cf::kMaxRawBytes,
                  std::max(cf::kLeastMaxRawBytes,
                           std::min(file_bytes, cf::kMaxFileBytes) * cf::kMaxRawBytesAByte));
}

// Unpacks the content of a section whose checksum was right. `left`: what all may still take.
void Unpack(std::string_view stored, uint64_t& left, CaptureSection& section) {
  if (section.raw_bytes > left) {
    section.damage = "its content is larger than a capture may have";
    return;
  }
  if ((section.flags & cf::kFlagZstd) == 0) {
    section.raw = stored;
    if (section.raw.size() != section.raw_bytes) section.damage = "its length is wrong";
    return;
  }
  // The frame states its size too. This bounds what a forged header would make us allocate.
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != section.raw_bytes) {
    section.damage = "its length is wrong";
    return;
  }
  left -= section.raw_bytes;
  section.raw.resize(section.raw_bytes);
  const size_t size =
      ZSTD_decompress(section.raw.data(), section.raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != section.raw_bytes) {
    section.raw.clear();
    section.damage = "it can't be decompressed";
  }
}

}  // namespace

CaptureSections SplitSections(std::string_view bytes) {
  CaptureSections result;
  uint64_t at = cf::kFileHeaderBytes;
  uint64_t left = MostRawBytes(bytes.size());
  while (bytes.size() >= at && bytes.size() - at >= cf::kSectionHeaderBytes) {
    ByteReader header(bytes.substr(at, cf::kSectionHeaderBytes));
    CaptureSection section;
    section.file_offset = at;
    section.type = header.Fixed<uint32_t>();
    section.flags = header.Fixed<uint32_t>();
    section.stored_bytes = header.Fixed<uint64_t>();
    section.raw_bytes = header.Fixed<uint64_t>();
    const auto checksum = header.Fixed<uint64_t>();
    at += cf::kSectionHeaderBytes;
    const bool cut = section.stored_bytes > bytes.size() - at;
    const std::string_view stored = bytes.substr(at, section.stored_bytes);
    if (cut) {
      section.damage = "it is cut short";
    } else if (checksum !=
               SectionChecksum(section.type, section.flags, section.raw_bytes, stored)) {
      section.damage = "its checksum is wrong";
    } else {
      Unpack(stored, left, section);
    }
    at += stored.size();
    if (section.type == cf::kEnd && section.damage.empty()) {
      ByteReader end(section.raw);
      result.complete = end.Varint() == result.sections.size() && !end.failed();
      return result;
    }
    result.sections.push_back(std::move(section));
    if (cut) return result;
  }
  return result;
}

std::string SectionName(uint32_t type) {
  switch (type) {
    case cf::kProgram:
      return "program";
    case cf::kTracker:
      return "tracker";
    case cf::kModules:
      return "modules";
    case cf::kFrames:
      return "frames";
    case cf::kNodes:
      return "nodes";
    case cf::kThreadNames:
      return "thread names";
    case cf::kSites:
      return "sites";
    case cf::kSymbols:
      return "symbols";
    case cf::kSampling:
      return "sampling";
    case cf::kKinds:
      return "kinds";
    case cf::kTemporary:
      return "temporary";
    case cf::kSizes:
      return "sizes";
    case cf::kTimeline:
      return "timeline";
    case cf::kMoments:
      return "moments";
    case cf::kMappings:
      return "mappings";
    case cf::kMemory:
      return "memory";
    case cf::kNamed:
      return "named snapshots";
    case cf::kAttached:
      return "attached";
    case cf::kSources:
      return "sources";
    case cf::kProcesses:
      return "processes";
    case cf::kUnseen:
      return "unseen";
    case cf::kMappingMoments:
      return "mapping moments";
    case cf::kRunningThreads:
      return "running threads";
    case cf::kInspection:
      return "inspection";
    case cf::kPython:
      return "python";
    case cf::kAllocatorLive:
      return "allocator live";
    default:
      return fmt::format("type {}", type);
  }
}

}  // namespace memprof
