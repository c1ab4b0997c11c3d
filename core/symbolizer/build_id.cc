#include "core/symbolizer/build_id.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include "core/symbolizer/elf_file.h"

namespace memprof {
namespace {

std::string Hexadecimal(const void* bytes, ssize_t count) {
  std::string text;
  for (ssize_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  }
  return text;
}

}  // namespace

std::string BuildIdOf(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t count = elf != nullptr ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
  return Hexadecimal(bytes, count);
}

std::string BuildIdOf(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr where = 0;
  const int count = dwfl_module_build_id(module, &bytes, &where);
  return Hexadecimal(bytes, count);
}

std::string BuildIdOfFile(const std::string& path) { return BuildIdOf(ElfFile(path).elf()); }

std::vector<std::string> DebugFilesByBuildId(const std::string& build_id,
                                             const std::vector<std::string>& directories) {
  std::vector<std::string> files;
  if (build_id.size() <= 2) return files;
  for (const std::string& directory : directories) {
    files.push_back(fmt::format("{}/.build-id/{}/{}.debug", directory, build_id.substr(0, 2),
                                build_id.substr(2)));
  }
  return files;
}

}  // namespace memprof
