#include "aggregator/attach/own_image.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/own_header.h"

namespace memprof {
namespace {

constexpr uintptr_t kPage = 4096;

constinit void* copy = nullptr;

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// The writable segment without its beginning, which the loader has made read-only.
Range WritableImage() {
  const auto image = reinterpret_cast<uintptr_t>(&__ehdr_start);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(image + __ehdr_start.e_phoff);
  Range range;
  for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
    const ElfW(Phdr)& segment = headers[i];
    const uintptr_t begin = image + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) {
      if (range.begin < begin) range.begin = begin;
      range.end = begin + segment.p_memsz;
    } else if (segment.p_type == PT_GNU_RELRO) {
      const uintptr_t end = (begin + segment.p_memsz) / kPage * kPage;
      if (range.begin < end) range.begin = end;
    }
  }
  return range;
}

}  // namespace

bool SaveImage() {
  const Range range = WritableImage();
  void* memory = kernel::Map(nullptr, range.end - range.begin, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS);
  if (memory == nullptr) return false;
  memcpy(memory, reinterpret_cast<const void*>(range.begin), range.end - range.begin);
  copy = memory;
  return true;
}

void RestoreImage() {
  const Range range = WritableImage();
  void* const saved = copy;
  memcpy(reinterpret_cast<void*>(range.begin), saved, range.end - range.begin);
  kernel::Unmap(saved, range.end - range.begin);
}

}  // namespace memprof
