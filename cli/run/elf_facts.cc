#include "cli/run/elf_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "cli/run/jemalloc/inner_jemalloc.h"

namespace memprof {
namespace {

using ElfPointer = std::unique_ptr<Elf, int (*)(Elf*)>;

void ReadDynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) return;
    if (entry.d_tag != DT_NEEDED) continue;
    const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    if (name != nullptr) facts.needed.emplace_back(name);
  }
}

void ReadSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const char* text = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (text == nullptr) continue;
    const std::string_view name = text;
    if (name == "malloc") facts.defines_malloc = true;
    if (name == "tc_malloc") facts.inner_allocator = "tcmalloc";
    if (name == "mi_malloc") facts.inner_allocator = "mimalloc";
    if (name == "mallocx" && header.sh_type == SHT_DYNSYM) facts.exports_mallocx = true;
    if (name.ends_with("mallctl") && facts.defines_mallctl.empty()) facts.defines_mallctl = name;
    if (name == "__asan_init" || name == "__tsan_init" || name == "__msan_init") {
      facts.defines_sanitizer = true;
    }
  }
}

// What allocators have in their messages, and nobody else: programs may well name an allocator.
constexpr struct {
  std::string_view text;
  const char* allocator;
} kMessages[] = {
    {"<jemalloc>: ", "jemalloc"},
    {"tcmalloc: large alloc", "tcmalloc"},
    {"mimalloc: warning: ", "mimalloc"},
};

// Of a stripped file.
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

// The note that the linker left: owner "GNU", type NT_GNU_BUILD_ID.
void ReadNotes(Elf_Data* data, ElfFacts& facts) {
  GElf_Nhdr note;
  size_t name = 0;
  size_t content = 0;
  for (size_t at = 0; data != nullptr && facts.build_id.empty();) {
    const size_t next = gelf_getnote(data, at, &note, &name, &content);
    if (next == 0) return;
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
        memcmp(bytes + name, "GNU", sizeof "GNU") == 0) {
      for (size_t i = 0; i < note.n_descsz; ++i) {
        facts.build_id += fmt::format("{:02x}", bytes[content + i]);
      }
    }
    at = next;
  }
}

}  // namespace

std::optional<ElfFacts> ReadElfFacts(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const ElfPointer elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr), elf_end);
  struct Close {
    int fd;
    ~Close() { close(fd); }
  } const closing{fd};
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
      gelf_getehdr(elf.get(), &header) == nullptr) {
    return std::nullopt;
  }
  ElfFacts facts;
  facts.elf_class = gelf_getclass(elf.get());
  facts.machine = header.e_machine;
  size_t segments = 0;
  elf_getphdrnum(elf.get(), &segments);
  for (size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_DYNAMIC) facts.has_dynamic = true;
    if (segment.p_type != PT_INTERP) continue;
    size_t bytes = 0;
    const char* file = elf_rawfile(elf.get(), &bytes);
    if (file == nullptr || segment.p_offset >= bytes) continue;
    const std::string_view rest(file + segment.p_offset, bytes - segment.p_offset);
    facts.interpreter = rest.substr(0, std::min<size_t>(rest.find('\0'), segment.p_filesz));
  }
  bool has_symbols = false;
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr section_header;
    if (gelf_getshdr(section, &section_header) == nullptr) continue;
    if (section_header.sh_type == SHT_DYNAMIC) {
      ReadDynamic(elf.get(), section, section_header, facts);
    }
    has_symbols |= section_header.sh_type == SHT_SYMTAB;
    if (section_header.sh_type == SHT_NOTE) ReadNotes(elf_getdata(section, nullptr), facts);
    if (section_header.sh_type == SHT_DYNSYM || section_header.sh_type == SHT_SYMTAB) {
      ReadSymbols(elf.get(), section, section_header, facts);
    }
  }
  if (!facts.defines_mallctl.empty()) {
    facts.jemalloc = ReadInnerJemalloc(elf.get());
  } else if (facts.inner_allocator.empty() && !has_symbols) {
    FindMessages(elf.get(), facts);
  }
  return facts;
}

}  // namespace memprof
