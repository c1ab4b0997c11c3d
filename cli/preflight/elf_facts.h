// The facts about an ELF file that the preflight needs.
//
// Failure: nullopt for a file that is no ELF file or can't be read.
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
  bool defines_malloc = false;  // in .dynsym or .symtab
  std::string defines_mallctl;  // the symbol's name if a jemalloc is inside; else empty
  InnerJemalloc jemalloc = {};  // the functions of that jemalloc, if it can be hooked
  // another allocator inside, found by its symbols, or in a stripped file by its messages:
  // "tcmalloc"; or empty
  std::string inner_allocator;
  bool exports_mallocx = false;  // in .dynsym: a jemalloc that other modules can call
  bool imports_mlockall = false;
  bool defines_python = false;         // CPython
  bool defines_free_threaded = false;  // … without the global lock
  bool defines_sanitizer = false;      // __asan_init, __tsan_init, __msan_init
};

// The allocator inside an executable that no hook can intercept: "jemalloc", or "malloc" for one of
// the program's own. Empty: there is none, or it is a jemalloc that can be hooked.
std::string UnseenAllocator(const ElfFacts& facts);

// True if it is glibc's loader, whatever the file's name is.
bool IsLoader(const ElfFacts& facts);

// Unless `whole`, reads only what the loader reads, which is quick for files of any size: no
// .symtab, and no search for an allocator's messages.
std::optional<ElfFacts> ReadElfFacts(const std::string& path, bool whole = true);

}  // namespace memprof
