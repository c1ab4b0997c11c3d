#include "cli/preflight/inner_jemalloc.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cli/preflight/inner_jemalloc_cache.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

struct Symbol {
  std::string name;
  uint64_t start;
  uint64_t bytes = 16;
};

// The symbols of a jemalloc that can be hooked, one function after another.
std::vector<Symbol> Jemalloc(const std::string& prefix) {
  return {{prefix + "malloc", 0x1000},
          {prefix + "mallocx", 0x1010},
          {prefix + "dallocx", 0x1020},
          {prefix + "mallctl", 0x1030},
          {prefix + "hook_invoke_alloc", 0x1040},
          {"experimental_hooks_install_ctl", 0x1050}};
}

std::vector<Symbol> With(std::vector<Symbol> symbols, const std::vector<Symbol>& more) {
  symbols.insert(symbols.end(), more.begin(), more.end());
  return symbols;
}

template <typename Record>
void Append(std::string& bytes, const Record& record) {
  bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

// An ELF file that has a symbol table and nothing else.
std::string File(const std::vector<Symbol>& symbols) {
  std::string names(1, '\0'), table(sizeof(Elf64_Sym), '\0');
  for (const Symbol& symbol : symbols) {
    Elf64_Sym record = {};
    record.st_name = static_cast<Elf64_Word>(names.size());
    record.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    record.st_shndx = 1;
    record.st_value = symbol.start;
    record.st_size = symbol.bytes;
    Append(table, record);
    names += symbol.name + '\0';
  }
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_type = SHT_SYMTAB;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = table.size();
  sections[1].sh_link = 2;
  sections[1].sh_entsize = sizeof(Elf64_Sym);
  sections[1].sh_addralign = 8;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof header + table.size();
  sections[2].sh_size = names.size();
  sections[2].sh_addralign = 1;
  while (names.size() % 8 != 0) names += '\0';
  header.e_shoff = sizeof header + table.size() + names.size();
  std::string file;
  Append(file, header);
  file += table + names;
  Append(file, sections);
  return file;
}

class InnerJemallocTest : public testing::Test {
 protected:
  InnerJemalloc Of(const std::vector<Symbol>& symbols) {
    return cache_.OfFile(directory_.Write("program" + std::to_string(++files_), File(symbols)))
        .jemalloc;
  }

  TemporaryDirectory directory_;
  InnerJemallocCache cache_;
  int files_ = 0;
};

TEST_F(InnerJemallocTest, IsFoundWithAnyPrefix) {
  for (const char* prefix : {"", "je_", "_rjem_"}) {
    const InnerJemalloc found = Of(Jemalloc(prefix));
    EXPECT_EQ(found.mallctl, 0x1030u) << prefix;
    EXPECT_EQ(found.mallocx, 0x1010u) << prefix;
    EXPECT_EQ(found.dallocx, 0x1020u) << prefix;
  }
}

TEST_F(InnerJemallocTest, IsNotWhatOnlyHasANameInIt) {
  EXPECT_EQ(Of({{"mallctl_of_ours", 0x1000}, {"main", 0x2000}}).mallctl, 0u);
  EXPECT_EQ(Of({{"je_mallctl", 0x1000}, {"main", 0x2000}}).mallctl, 0u);
}

TEST_F(InnerJemallocTest, IsNotOneThatHasNoHooks) {
  std::vector<Symbol> symbols = Jemalloc("je_");
  symbols.pop_back();
  EXPECT_EQ(Of(symbols).mallctl, 0u);
}

TEST_F(InnerJemallocTest, CodeIsRunsThatNoOtherFunctionBreaks) {
  const InnerJemalloc one = Of(Jemalloc("je_"));
  EXPECT_EQ(one.code[0].start, 0x1000u);
  EXPECT_EQ(one.code[0].end, 0x1050u);
  EXPECT_EQ(one.code[1].end, 0u);

  const InnerJemalloc two =
      Of(With({{"before", 0x500}, {"mains", 0x101c, 2}, {"after", 0x9000}}, Jemalloc("je_")));
  EXPECT_EQ(two.code[0].start,
            0x1020u);  // the larger first; mallctl alone would be no way to a hook
  EXPECT_EQ(two.code[0].end, 0x1050u);
  EXPECT_EQ(two.code[1].start, 0x1000u);
  EXPECT_EQ(two.code[1].end, 0x1020u);
}

TEST_F(InnerJemallocTest, AnotherNameOfAFunctionBreaksNoRun) {
  const InnerJemalloc found = Of(With({{"alias_of_mallocx", 0x1010}}, Jemalloc("je_")));
  EXPECT_EQ(found.code[0].start, 0x1000u);
  EXPECT_EQ(found.code[0].end, 0x1050u);
}

TEST_F(InnerJemallocTest, NoPrefixOfAFileIsReadBeyondItsEnd) {
  const std::string whole = File(Jemalloc("je_"));
  for (size_t bytes = 0; bytes < whole.size(); bytes += 5) {
    cache_.OfFile(directory_.Write("cut", whole.substr(0, bytes)));
  }
  std::string wild = whole;
  for (size_t i = sizeof(Elf64_Ehdr); i < wild.size(); ++i) wild[i] = '\xff';
  EXPECT_EQ(cache_.OfFile(directory_.Write("wild", wild)).jemalloc.mallctl, 0u);
}

TEST_F(InnerJemallocTest, AFileIsReadOnceUntilItChanges) {
  const std::string path = directory_.Write("program", File(Jemalloc("je_")));
  EXPECT_EQ(cache_.OfFile(path).jemalloc.mallctl, 0x1030u);
  EXPECT_EQ(cache_.OfFile(path).jemalloc.mallctl, 0x1030u);
  EXPECT_EQ(cache_.files(), 1u);
  directory_.Write("program", File({{"main", 0x1000}}));
  EXPECT_EQ(cache_.OfFile(path).jemalloc.mallctl, 0u);
  EXPECT_EQ(cache_.files(), 2u);
  EXPECT_EQ(cache_.OfFile(directory_ / "missing").jemalloc.mallctl, 0u);
}

TEST_F(InnerJemallocTest, TheCacheDoesNotGrowBeyondItsBound) {
  for (int i = 0; i < 300; ++i) Of({{"main", 0x1000}});
  EXPECT_LE(cache_.files(), 256u);
  EXPECT_EQ(Of(Jemalloc("je_")).mallctl, 0x1030u);
}

}  // namespace
}  // namespace memprof
