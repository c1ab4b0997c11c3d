#include "fuzz/sections_mutator.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_checksum.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/capture_sections.h"
#include "formats/capture/section_writer.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace memprof {
namespace {

namespace cf = capture_format;

constexpr size_t kLargestSection = 4096;

// Uncompressed, which the format allows and which costs nothing.
void AppendPlain(ByteWriter& out, const CaptureSection& section) {
  const uint32_t flags = section.flags & ~cf::kFlagZstd;
  out.Fixed(section.type);
  out.Fixed(flags);
  out.Fixed(uint64_t{section.raw.size()});
  out.Fixed(uint64_t{section.raw.size()});
  out.Fixed(SectionChecksum(section.type, flags, section.raw.size(), section.raw));
  out.Raw(section.raw);
}

void MutateContent(std::string& raw) {
  std::vector<uint8_t> bytes(raw.begin(), raw.end());
  const size_t before = bytes.size();
  bytes.resize(std::max(before + 64, kLargestSection));
  bytes.resize(LLVMFuzzerMutate(bytes.data(), before, bytes.size()));
  raw.assign(bytes.begin(), bytes.end());
}

// One change of the sections: of a content, the order, a presence or the number.
void MutateSections(std::vector<CaptureSection>& sections, std::mt19937& random) {
  const size_t at = random() % sections.size();
  const size_t other = random() % sections.size();
  switch (random() % 16) {
    case 0:
      std::swap(sections[at], sections[other]);
      return;
    case 1:
      sections.erase(sections.begin() + static_cast<ptrdiff_t>(at));
      return;
    case 2: {
      const CaptureSection copy = sections[at];
      sections.insert(sections.begin() + static_cast<ptrdiff_t>(other), copy);
      return;
    }
    case 3:
      sections[at].type = random() % (cf::kNewest + 2);
      return;
    default:
      MutateContent(sections[at].raw);
  }
}

}  // namespace

size_t MutateCapture(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (random() % 8 == 0 || size < cf::kFileHeaderBytes) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  CaptureSections split = SplitSections(bytes);
  std::erase_if(split.sections, [](const CaptureSection& s) { return !s.damage.empty(); });
  if (split.sections.empty()) return LLVMFuzzerMutate(data, size, max_size);
  MutateSections(split.sections, random);
  ByteWriter out;
  out.Raw(bytes.substr(0, cf::kFileHeaderBytes));
  for (const CaptureSection& section : split.sections) AppendPlain(out, section);
  AppendEnd(out, split.sections.size());
  if (out.bytes().size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, out.bytes().data(), out.bytes().size());
  return out.bytes().size();
}

}  // namespace memprof
