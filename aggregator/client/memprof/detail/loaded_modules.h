/* The files that are mapped in this process, to say of a return address which one it lies in and
 * where. Thread safety: a value; made while the loader's list stands still. */
#ifndef MEMPROF_DETAIL_LOADED_MODULES_H_
#define MEMPROF_DETAIL_LOADED_MODULES_H_

#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace memprof {
namespace detail {

struct LoadedModule {
  std::string path;
  std::string build_id; /* lower-case hexadecimal; empty: none */
  uintptr_t bias = 0;   /* an address less this is one in the file's own terms */
  std::vector<std::pair<uintptr_t, uintptr_t>> mapped; /* ranges: first, one past the last */

  bool Has(uintptr_t first, uintptr_t end) const {
    for (const auto& range : mapped) {
      if (first >= range.first && end <= range.second) return true;
    }
    return false;
  }
};

/* The GNU build-id in the notes of one segment; empty: none there. */
inline std::string BuildIdIn(const char* notes, size_t bytes, size_t alignment) {
  const size_t align = alignment == 8 ? 8 : 4;
  auto round = [=](size_t n) { return (n + align - 1) / align * align; };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const size_t name = at + sizeof note;
    const size_t value = round(name + note.n_namesz);
    if (value + note.n_descsz > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      std::string id;
      for (size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[value + i]);
        id += "0123456789abcdef"[byte >> 4];
        id += "0123456789abcdef"[byte & 15];
      }
      return id;
    }
    at = round(value + note.n_descsz);
  }
  return {};
}

inline std::vector<LoadedModule> LoadedModules() {
  std::vector<LoadedModule> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        LoadedModule module;
        module.path = info->dlpi_name;
        module.bias = info->dlpi_addr;
        for (size_t i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const uintptr_t start = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD) module.mapped.emplace_back(start, start + segment.p_memsz);
        }
        for (size_t i = 0; i < info->dlpi_phnum && module.build_id.empty(); ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const uintptr_t start = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_NOTE && module.Has(start, start + segment.p_memsz)) {
            module.build_id =
                BuildIdIn(reinterpret_cast<const char*>(start), segment.p_memsz, segment.p_align);
          }
        }
        static_cast<std::vector<LoadedModule>*>(context)->push_back(module);
        return 0;
      },
      &modules);
  /* The first is the program, without a name. */
  char self[PATH_MAX];
  const ssize_t bytes = readlink("/proc/self/exe", self, sizeof self);
  if (bytes > 0 && !modules.empty() && modules[0].path.empty()) {
    modules[0].path.assign(self, static_cast<size_t>(bytes));
  }
  return modules;
}

/* The index of the module that has the address; -1: none. */
inline int ModuleOf(const std::vector<LoadedModule>& modules, uintptr_t address) {
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].Has(address, address + 1)) return static_cast<int>(i);
  }
  return -1;
}

} /* namespace detail */
} /* namespace memprof */

#endif /* MEMPROF_DETAIL_LOADED_MODULES_H_ */
