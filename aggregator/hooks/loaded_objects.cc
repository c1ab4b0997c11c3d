#include "aggregator/hooks/loaded_objects.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace memprof {
namespace {

using Iterate = int(int (*)(dl_phdr_info*, size_t, void*), void*);

// Looked up, not linked: the program may have a dl_iterate_phdr of its own.
Iterate* iterate = nullptr;
const r_debug* debug = nullptr;

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
    // The loader has added the bias, except where it can't write (the vdso).
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
  if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
      (binding != STB_GLOBAL && binding != STB_WEAK) ||
      strcmp(tables.strings + symbol.st_name, name) != 0) {
    return nullptr;
  }
  if (tables.versions != nullptr && (tables.versions[index] & kNotTheDefault) != 0) return nullptr;
  return reinterpret_cast<void*>(object.l_addr + symbol.st_value);
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

void* Find(const link_map& object, const char* name) {
  if (object.l_ld == _DYNAMIC) return nullptr;  // this library
  const Tables tables = TablesOf(object);
  if (tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  if (tables.gnu_hash != nullptr) return FindByGnuHash(object, tables, name);
  return tables.hash != nullptr ? FindByHash(object, tables, name) : nullptr;
}

// --- dependencies --------------------------------------------------------------------------------

class ObjectSet {
 public:
  bool Has(const link_map* object) const {
    return std::find(objects_, objects_ + size_, object) != objects_ + size_;
  }
  // What doesn't fit is left out; false then, or if it is in it already.
  bool Add(const link_map* object) {
    if (size_ == kMost || Has(object)) return false;
    objects_[size_++] = object;
    return true;
  }
  size_t size() const { return size_; }
  const link_map* operator[](size_t i) const { return objects_[i]; }

 private:
  static constexpr size_t kMost = 256;
  const link_map* objects_[kMost];
  size_t size_ = 0;
};

bool IsNamed(const link_map& object, const char* needed) {
  const char* base = strrchr(object.l_name, '/');
  return strcmp(object.l_name, needed) == 0 || (base != nullptr && strcmp(base + 1, needed) == 0) ||
         strcmp(TablesOf(object).soname, needed) == 0;
}

// Calls visit(name) for each dependency in the object's own order, until one gives true.
template <typename Visit>
bool AnyNeeded(const link_map& object, Visit visit) {
  const char* strings = TablesOf(object).strings;
  if (strings == nullptr) return false;
  for (const Elf64_Dyn* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && visit(strings + entry->d_un.d_val)) return true;
  }
  return false;
}

// What was loaded first of all that need `object`, and `object` itself.
const link_map* BroughtBy(const link_map* objects, const link_map* object) {
  ObjectSet needing;
  needing.Add(object);
  for (bool more = true; more;) {
    more = false;
    for (const link_map* other = objects; other != nullptr; other = other->l_next) {
      if (needing.Has(other)) continue;
      const bool needs = AnyNeeded(*other, [&](const char* name) {
        for (size_t i = 0; i < needing.size(); ++i) {
          if (IsNamed(*needing[i], name)) return true;
        }
        return false;
      });
      if (needs) more |= needing.Add(other);
    }
  }
  for (const link_map* other = objects; other != nullptr; other = other->l_next) {
    if (needing.Has(other)) return other;
  }
  return object;
}

// `root` and its dependencies, breadth first.
void FillScope(const link_map* objects, const link_map* root, ObjectSet& scope) {
  scope.Add(root);
  for (size_t i = 0; i < scope.size(); ++i) {
    AnyNeeded(*scope[i], [&](const char* name) {
      for (const link_map* other = objects; other != nullptr; other = other->l_next) {
        if (!IsNamed(*other, name)) continue;
        scope.Add(other);
        break;
      }
      return false;
    });
  }
}

// --- all of it -----------------------------------------------------------------------------------

struct Query {
  const link_map* object;
  const char* const* names;
  size_t count;
  Definitions* definitions;
};

void Answer(const Query& query) {
  const link_map* objects = debug->r_map;
  bool several = false;
  for (size_t i = 0; i < query.count; ++i) {
    if (query.names[i] == nullptr) continue;
    Definitions& found = query.definitions[i];
    for (const link_map* object = objects; object != nullptr; object = object->l_next) {
      void* definition = Find(*object, query.names[i]);
      if (definition == nullptr) continue;
      if (found.count++ == 0) found.first = definition;
    }
    several |= found.count > 1;
  }
  if (!several || query.object == nullptr) return;
  ObjectSet scope;
  FillScope(objects, BroughtBy(objects, query.object), scope);
  for (size_t i = 0; i < query.count; ++i) {
    if (query.names[i] == nullptr) continue;
    Definitions& found = query.definitions[i];
    for (size_t k = 0; found.count > 1 && found.in_scope == nullptr && k < scope.size(); ++k) {
      found.in_scope = Find(*scope[k], query.names[i]);
    }
  }
}

}  // namespace

bool InitLoadedObjects() {
  void* symbol = dlsym(RTLD_NEXT, "dl_iterate_phdr");
  memcpy(&iterate, &symbol, sizeof symbol);
  debug = static_cast<const r_debug*>(dlsym(RTLD_NEXT, "_r_debug"));
  return iterate != nullptr && debug != nullptr;
}

int IterateObjects(int (*visit)(dl_phdr_info*, size_t, void*), void* data) {
  return iterate != nullptr ? iterate(visit, data) : 0;
}

void FindDefinitions(const link_map* object, const char* const* names, size_t count,
                     Definitions* definitions) {
  for (size_t i = 0; i < count; ++i) definitions[i] = {};
  if (iterate == nullptr || debug == nullptr) return;
  Query query = {object, names, count, definitions};
  // Only for the lock that is held over the call.
  iterate(
      [](dl_phdr_info*, size_t, void* data) {
        Answer(*static_cast<const Query*>(data));
        return 1;
      },
      &query);
}

}  // namespace memprof
