#include "cli/preflight/elf_facts.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cli/preflight/inner_jemalloc.h"
#include "core/symbolizer/build_id.h"
#include "core/symbolizer/elf_file.h"

namespace memprof {
namespace {

void ReadDynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) return;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME) continue;
    const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    if (name == nullptr) continue;
    if (entry.d_tag == DT_SONAME) {
      facts.soname = name;
    } else {
      facts.needed.emplace_back(name);
    }
  }
}

void ReadSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  const bool is_dynamic = header.sh_type == SHT_DYNSYM;
  VisitSymbols(elf, section, [&](const GElf_Sym& symbol, std::string_view name) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) return;
    if (symbol.st_shndx == SHN_UNDEF) {
      if (is_dynamic && name == "mlockall") facts.imports_mlockall = true;
      return;
    }
    if (name == "malloc") facts.defines_malloc = true;
    if (name == "tc_malloc") facts.inner_allocator = "tcmalloc";
    if (name == "mi_malloc") facts.inner_allocator = "mimalloc";
    if (name == "Py_GetVersion") facts.defines_python = true;
    if (name == "_Py_DecRefShared") facts.defines_free_threaded = true;
    if (name == "mallocx" && is_dynamic) facts.exports_mallocx = true;
    if (name.ends_with("mallctl") && facts.defines_mallctl.empty()) facts.defines_mallctl = name;
    if (name == "__asan_init" || name == "__tsan_init" || name == "__msan_init") {
      facts.defines_sanitizer = true;
    }
  });
}

// Texts that only an allocator's messages contain: programs may well mention an allocator's name.
constexpr struct {
  std::string_view text;
  const char* allocator;
} kMessages[] = {
    {"<jemalloc>: ", "jemalloc"},
    {"tcmalloc: large alloc", "tcmalloc"},
    {"mimalloc: warning: ", "mimalloc"},
};
// Every allocator has more code than this (mimalloc: 60 kB). Data tables, which may be large, have
// none.
constexpr uint64_t kLeastCode = 16 * 1024;

// Recognises the allocator of a stripped file by its messages.
void FindMessages(Elf* elf, ElfFacts& facts) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS ||
        (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) != SHF_ALLOC) {
      continue;
    }
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    for (const auto& [text, allocator] : kMessages) {
      if (memmem(data->d_buf, data->d_size, text.data(), text.size()) != nullptr) {
        facts.inner_allocator = allocator;
      }
    }
  }
}

}  // namespace

std::string UnseenAllocator(const ElfFacts& facts) {
  if (facts.jemalloc.mallctl != 0) return {};
  if (!facts.defines_mallctl.empty()) return "jemalloc";
  if (!facts.inner_allocator.empty()) return facts.inner_allocator;
  return facts.defines_malloc ? "malloc" : std::string();
}

bool IsLoader(const ElfFacts& facts) {
  return facts.interpreter.empty() && facts.soname.starts_with("ld-linux");
}

std::optional<ElfFacts> ReadElfFacts(const std::string& path, bool whole) {
  const ElfFile file(path);
  Elf* const elf = file.elf();
  GElf_Ehdr header;
  if (elf == nullptr || gelf_getehdr(elf, &header) == nullptr) return std::nullopt;
  ElfFacts facts;
  facts.elf_class = gelf_getclass(elf);
  facts.machine = header.e_machine;
  facts.build_id = BuildIdOf(elf);
  size_t segments = 0;
  elf_getphdrnum(elf, &segments);
  for (size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_DYNAMIC) facts.has_dynamic = true;
    if (segment.p_type != PT_INTERP) continue;
    size_t bytes = 0;
    const char* raw = elf_rawfile(elf, &bytes);
    if (raw == nullptr || segment.p_offset >= bytes) continue;
    const std::string_view rest(raw + segment.p_offset, bytes - segment.p_offset);
    facts.interpreter = rest.substr(0, std::min<size_t>(rest.find('\0'), segment.p_filesz));
  }
  bool has_symbols = false;
  uint64_t code_bytes = 0;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr section_header;
    if (gelf_getshdr(section, &section_header) == nullptr) continue;
    if (section_header.sh_type == SHT_DYNAMIC) {
      ReadDynamic(elf, section, section_header, facts);
    }
    has_symbols |= section_header.sh_type == SHT_SYMTAB;
    if ((section_header.sh_flags & SHF_EXECINSTR) != 0) code_bytes += section_header.sh_size;
    if (section_header.sh_type == SHT_DYNSYM || (whole && section_header.sh_type == SHT_SYMTAB)) {
      ReadSymbols(elf, section, section_header, facts);
    }
  }
  if (!facts.defines_mallctl.empty()) {
    facts.jemalloc = ReadInnerJemalloc(elf);
  } else if (whole && facts.inner_allocator.empty() && !has_symbols && code_bytes >= kLeastCode) {
    FindMessages(elf, facts);
  }
  // CPython has one from 3.13 on, and uses it only in builds without the global lock.
  if (facts.defines_python && !facts.defines_free_threaded && facts.inner_allocator == "mimalloc") {
    facts.inner_allocator.clear();
  }
  return facts;
}

}  // namespace memprof
