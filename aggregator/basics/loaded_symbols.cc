#include "aggregator/basics/loaded_symbols.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

// glibc's list and musl's: each libc has one of them.
#pragma weak _r_debug
extern "C" __attribute__((weak)) r_debug* _dl_debug_addr;

namespace memprof {
namespace {

const r_debug* Loader() {
  if (&_r_debug != nullptr) return &_r_debug;
  return &_dl_debug_addr != nullptr ? _dl_debug_addr : nullptr;
}

struct Tables {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
  const Elf64_Versym* versions = nullptr;
  const char* soname = "";
};

Tables TablesOf(const link_map& object) {
  Tables tables;
  size_t soname = 0;
  for (const Elf64_Dyn* entry = object.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // The loader has added the bias, unless it can't write there (the vdso).
    const uint64_t value = entry->d_un.d_ptr;
    const uint64_t address = value < object.l_addr ? value + object.l_addr : value;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const Elf64_Sym*>(address);
        break;
      case DT_STRTAB:
        tables.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_GNU_HASH:
        tables.gnu_hash = reinterpret_cast<const uint32_t*>(address);
        break;
      case DT_HASH:
        tables.hash = reinterpret_cast<const uint32_t*>(address);
        break;
      case DT_VERSYM:
        tables.versions = reinterpret_cast<const Elf64_Versym*>(address);
        break;
      case DT_SONAME:
        soname = value;
        break;
      default:
        break;
    }
  }
  if (soname != 0 && tables.strings != nullptr) tables.soname = tables.strings + soname;
  return tables;
}

// --- symbols -------------------------------------------------------------------------------------

void* Definition(const link_map& object, const Tables& tables, uint32_t index, const char* name) {
  constexpr Elf64_Versym kNotTheDefault = 0x8000;
  const Elf64_Sym& symbol = tables.symbols[index];
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF ||
      (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC) ||
      (binding != STB_GLOBAL && binding != STB_WEAK) ||
      strcmp(tables.strings + symbol.st_name, name) != 0) {
    return nullptr;
  }
  if (tables.versions != nullptr && (tables.versions[index] & kNotTheDefault) != 0) return nullptr;
  const uintptr_t address = object.l_addr + symbol.st_value;
  // A resolver: its code chooses the function.
  if (type == STT_GNU_IFUNC) return reinterpret_cast<void* (*)()>(address)();
  return reinterpret_cast<void*>(address);
}

// header: buckets, first symbol, words of the filter, its shift; filter; buckets; chains.
void* FindByGnuHash(const link_map& object, const Tables& tables, const char* name) {
  uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const uint32_t* header = tables.gnu_hash;
  const uint32_t bucket_count = header[0];
  const uint32_t first_symbol = header[1];
  const uint32_t filter_words = header[2];
  if (bucket_count == 0 || filter_words == 0) return nullptr;
  const auto* filter = reinterpret_cast<const uint64_t*>(header + 4);
  const uint64_t word = filter[hash / 64 % filter_words];
  if ((word >> (hash % 64) & word >> ((hash >> header[3]) % 64) & 1) == 0) return nullptr;
  const auto* buckets = reinterpret_cast<const uint32_t*>(filter + filter_words);
  uint32_t index = buckets[hash % bucket_count];
  if (index < first_symbol) return nullptr;
  for (const uint32_t* chain = buckets + bucket_count - first_symbol;; ++index) {
    if ((chain[index] | 1) == (hash | 1)) {
      if (void* found = Definition(object, tables, index, name)) return found;
    }
    if ((chain[index] & 1) != 0) return nullptr;
  }
}

// buckets, symbols; buckets; chains.
void* FindByHash(const link_map& object, const Tables& tables, const char* name) {
  uint32_t hash = 0;
  for (const char* c = name; *c != 0; ++c) {
    hash = (hash << 4) + static_cast<unsigned char>(*c);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  const uint32_t bucket_count = tables.hash[0];
  if (bucket_count == 0) return nullptr;
  const uint32_t* buckets = tables.hash + 2;
  const uint32_t* chain = buckets + bucket_count;
  for (uint32_t i = buckets[hash % bucket_count]; i != STN_UNDEF; i = chain[i]) {
    if (void* found = Definition(object, tables, i, name)) return found;
  }
  return nullptr;
}

bool IsThisLibrary(const link_map& object) { return object.l_ld == _DYNAMIC; }

}  // namespace

const link_map* LoadedObjects() {
  const r_debug* const list = Loader();
  return list != nullptr ? list->r_map : nullptr;
}

uintptr_t LoaderBase() {
  const r_debug* const list = Loader();
  return list != nullptr ? list->r_ldbase : 0;
}
const char* SonameOf(const link_map& object) { return TablesOf(object).soname; }
const char* StringsOf(const link_map& object) { return TablesOf(object).strings; }

void* FindIn(const link_map& object, const char* name) {
  if (IsThisLibrary(object)) return nullptr;
  const Tables tables = TablesOf(object);
  if (tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  if (tables.gnu_hash != nullptr) return FindByGnuHash(object, tables, name);
  return tables.hash != nullptr ? FindByHash(object, tables, name) : nullptr;
}

void* FindFirstDefinition(const char* name) {
  for (const link_map* object = LoadedObjects(); object != nullptr; object = object->l_next) {
    if (void* found = FindIn(*object, name)) return found;
  }
  return nullptr;
}

void* FindNextDefinition(const char* name) {
  const link_map* object = LoadedObjects();
  while (object != nullptr && !IsThisLibrary(*object)) object = object->l_next;
  for (; object != nullptr; object = object->l_next) {
    if (void* found = FindIn(*object, name)) return found;
  }
  return nullptr;
}

bool IsDefinedBefore(const char* name) {
  for (const link_map* object = LoadedObjects(); object != nullptr && !IsThisLibrary(*object);
       object = object->l_next) {
    if (FindIn(*object, name) != nullptr) return true;
  }
  return false;
}

}  // namespace memprof
