// What the preflight needs to know of an ELF file.
//
// Failure: nullopt for what is no ELF file or can't be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/region_layout.h"

namespace memprof {

struct ElfFacts {
  int elf_class = 0;     // ELFCLASS32, ELFCLASS64
  uint16_t machine = 0;  // EM_…
  bool has_dynamic = false;
  std::string interpreter;  // PT_INTERP: the loader; empty: static or static-pie
  std::string build_id;     // lower-case hexadecimal; empty: none
  std::string soname;
  std::vector<std::string> needed;
  bool defines_malloc = false;   // in .dynsym or .symtab
  std::string defines_mallctl;   // the symbol's name (a jemalloc inside), or empty
  InnerJemalloc jemalloc = {};   // of that one, if it can be hooked
  std::string inner_allocator;   // another allocator inside, by its symbols, or in a stripped file
                                 // any by its messages: "tcmalloc"; or empty
  bool exports_mallocx = false;  // in .dynsym: a jemalloc that others can call
  bool imports_mlockall = false;
  bool defines_sanitizer = false;  // __asan_init, __tsan_init, __msan_init
};

// The allocator inside an executable that no hook can come between: "jemalloc", or "malloc" where
// it has one of its own. Empty: there is none, or it is a jemalloc that can be hooked.
std::string UnseenAllocator(const ElfFacts& facts);

// Whether it is glibc's loader, whatever the file is called.
bool IsLoader(const ElfFacts& facts);

// Not `whole`: only what the loader reads, which is quick in files of any size: no .symtab, and no
// search for the messages of an allocator.
std::optional<ElfFacts> ReadElfFacts(const std::string& path, bool whole = true);

}  // namespace memprof
