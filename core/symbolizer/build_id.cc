#include "core/symbolizer/build_id.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/symbolizer/regular_file.h"

namespace memprof {

std::string BuildIdOfFile(const std::string& path) {
  const int fd = OpenRegularFile(path);
  if (fd < 0) return {};
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  const void* bytes = nullptr;
  const ssize_t count = elf != nullptr ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
  std::string text;
  for (ssize_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  }
  elf_end(elf);
  close(fd);
  return text;
}

}  // namespace memprof
