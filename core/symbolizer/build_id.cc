#include "core/symbolizer/build_id.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>

#include "core/symbolizer/elf_file.h"

namespace memprof {

std::string BuildIdOf(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t count = elf != nullptr ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
  std::string text;
  for (ssize_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  }
  return text;
}

std::string BuildIdOfFile(const std::string& path) { return BuildIdOf(ElfFile(path).elf()); }

}  // namespace memprof
