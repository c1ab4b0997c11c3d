// Any ELF file with any DWARF as a module of a capture: its addresses get names, whatever the file
// contains. Sections are changed in place (the mutator below), so that the changed bytes are read.
//
//   input   the file; frames are requested all over its code and beyond
//
// elfutils is the reader. The sanitizers see only its crashes; report commands call it in their own
// process.

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/symbolizer/build_id.h"
#include "core/symbolizer/symbolizer.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace memprof;

// The seeds' code is at 0x240 to 0x27c.
constexpr uint64_t kAddresses[] = {0x1,   0x241, 0x251, 0x261, 0x263, 0x265,       0x266,
                                   0x26a, 0x26f, 0x274, 0x27b, 0x280, ~uint64_t{0}};

struct Place {
  uint64_t offset, bytes;
};

// The places of the sections that aren't empty.
std::vector<Place> SectionsOf(const uint8_t* data, size_t size) {
  std::vector<Place> places;
  Elf64_Ehdr header;
  if (size < sizeof header) return places;
  std::memcpy(&header, data, sizeof header);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    if (header.e_shoff > size || at + sizeof(Elf64_Shdr) > size) break;
    places.push_back({at, sizeof(Elf64_Shdr)});
    Elf64_Shdr section;
    std::memcpy(&section, data + at, sizeof section);
    if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_EXECINSTR) != 0 ||
        section.sh_size == 0 || section.sh_offset > size ||
        section.sh_size > size - section.sh_offset) {
      continue;
    }
    places.push_back({section.sh_offset, section.sh_size});
  }
  return places;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int fd = memfd_create("module", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) return 0;
  SymbolizerOptions options;
  options.debug_directories.clear();
  options.download_limit = {};
  const auto symbolizer = MakeSymbolizer(options);
  const std::vector<SnapshotModule> modules = {{path, BuildIdOfFile(path)}};
  std::vector<SnapshotFrame> frames;
  for (const uint64_t address : kAddresses) frames.push_back({0, address});
  const auto chains = symbolizer->Resolve(modules, frames);
  if (chains.size() != frames.size()) std::abort();
  for (const SourceChain& chain : chains) {
    if (chain.empty()) std::abort();
    for (const SourceFrame& frame : chain) {
      if (frame.function.empty()) std::abort();
    }
    if (chain.back().inlined) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<Place> places = SectionsOf(data, size);
  if (places.empty() || random() % 32 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const Place& place = places[random() % places.size()];
  // The size stays the same, so that everything else stays where it was.
  std::vector<uint8_t> content(data + place.offset, data + place.offset + place.bytes);
  const size_t changed = LLVMFuzzerMutate(content.data(), content.size(), content.size());
  std::memcpy(data + place.offset, content.data(), changed);
  return size;
}
