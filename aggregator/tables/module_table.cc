#include "aggregator/tables/module_table.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "aggregator/hooks/errno_guard.h"
#include "aggregator/unwind/module_segments.h"

namespace memprof {
namespace {

FindObject find_object = nullptr;

// Read at the start: on whichever stack a module is met first, there may be no room for a path.
char program_path[4096];
size_t program_path_bytes = 0;

struct BuildId {
  const uint8_t* bytes = nullptr;
  uint32_t size = 0;
};

// Reads the build-id out of the module's notes.
BuildId ReadBuildId(const ModuleSegments& segments) {
  for (uint32_t i = 0; i < segments.count; ++i) {
    if (segments.headers[i].p_type != PT_NOTE) continue;
    uint64_t at = segments.bias + segments.headers[i].p_vaddr;
    const ByteRange readable = segments.Holding(at);
    if (readable.size() == 0 || segments.headers[i].p_filesz > readable.end - at) continue;
    const uint64_t notes_end = at + segments.headers[i].p_filesz;
    while (notes_end - at >= sizeof(Elf64_Nhdr)) {
      auto* note = reinterpret_cast<const Elf64_Nhdr*>(at);
      const uint64_t name = at + sizeof(Elf64_Nhdr);
      const uint64_t description = name + (uint64_t{note->n_namesz} + 3) / 4 * 4;
      const uint64_t next = description + (uint64_t{note->n_descsz} + 3) / 4 * 4;
      if (next > notes_end || next <= at) break;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          memcmp(reinterpret_cast<const void*>(name), "GNU", 4) == 0) {
        return {reinterpret_cast<const uint8_t*>(description), note->n_descsz};
      }
      at = next;
    }
  }
  return {};
}

// FNV-1a, by 8 bytes a step as far as they go.
uint64_t Hash(uint64_t hash, const void* bytes, size_t size) {
  constexpr uint64_t kPrime = 0x100000001b3ull;
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  for (; size > 0; --size, ++at) hash = (hash ^ *at) * kPrime;
  return hash;
}

// What makes the module at hand another one than one that lay in the same place.
uint64_t IdentityOf(const dl_find_object& object) {
  const link_map* record = object.dlfo_link_map;
  const uintptr_t words[] = {reinterpret_cast<uintptr_t>(record),
                             reinterpret_cast<uintptr_t>(record->l_ld)};
  uint64_t hash = Hash(0xcbf29ce484222325ull, words, sizeof words);
  if (record->l_name != nullptr) hash = Hash(hash, record->l_name, strlen(record->l_name));
  const BuildId id = ReadBuildId(SegmentsOf(object));
  return Hash(hash, id.bytes, id.size);
}

}  // namespace

bool ModuleTable::Init() {
  // Looked up at run time: glibc before 2.35 has none, and a hard reference would keep the whole
  // library from loading there.
  void* symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
  memcpy(&find_object, &symbol, sizeof symbol);
  if (find_object == nullptr) return false;
  const ErrnoGuard keep;
  const ssize_t n = readlink("/proc/self/exe", program_path, sizeof program_path);
  program_path_bytes = n > 0 ? static_cast<size_t>(n) : 0;
  InitModuleSegments(find_object);
  return true;
}

bool ModuleTable::Is(uint32_t module, const dl_find_object& object, uint64_t identity) const {
  const ModuleRecord& record = region_.Records<ModuleRecord>(Table::kModules)[module];
  return record.end.load(std::memory_order_acquire) ==
             reinterpret_cast<uint64_t>(object.dlfo_map_end) &&
         record.start == reinterpret_cast<uint64_t>(object.dlfo_map_start) &&
         record.load_bias == object.dlfo_link_map->l_addr &&
         identities_[module].load(std::memory_order_relaxed) == identity && !IsUnloaded(module);
}

bool ModuleTable::FindRange(const void* address, uintptr_t* start, uintptr_t* end) {
  dl_find_object found;
  if (find_object == nullptr || find_object(const_cast<void*>(address), &found) != 0) return false;
  *start = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  *end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  return true;
}

uint32_t ModuleTable::Find(uint64_t pc, bool* replaced) {
  dl_find_object found;
  if (find_object == nullptr || find_object(reinterpret_cast<void*>(pc), &found) != 0) {
    return kNoModule;
  }
  const uint64_t identity = IdentityOf(found);
  for (uint32_t i = region_.count(Table::kModules); i-- > 0;) {
    if (i < kMaxModules && Is(i, found, identity)) return i;
  }
  *replaced = MarkOverlapped(found, identity);
  return Enter(found, identity);
}

uint32_t ModuleTable::Enter(const dl_find_object& object, uint64_t identity) {
  const char* name = object.dlfo_link_map->l_name;
  size_t bytes = name == nullptr ? 0 : strlen(name);
  if (bytes == 0) {  // the program itself
    name = program_path;
    bytes = program_path_bytes;
  } else if (strncmp(name, "linux-vdso", 10) == 0) {
    name = "[vdso]";
    bytes = strlen(name);
  }
  const uint32_t index = region_.Take(Table::kModules);
  if (index >= kMaxModules) return kNoModule;  // kNoRecord too
  ModuleRecord& module = region_.Records<ModuleRecord>(Table::kModules)[index];
  const uint32_t path = region_.Take(Table::kStrings, static_cast<uint32_t>(bytes));
  if (path != kNoRecord) {
    memcpy(region_.Records<char>(Table::kStrings) + path, name, bytes);
    module.path_offset = path;
    module.path_bytes = static_cast<uint32_t>(bytes);
  }
  const BuildId id = ReadBuildId(SegmentsOf(object));
  if (id.size <= sizeof module.build_id) {
    if (id.size != 0) memcpy(module.build_id, id.bytes, id.size);
    module.build_id_bytes = id.size;
  }
  module.start = reinterpret_cast<uint64_t>(object.dlfo_map_start);
  module.load_bias = object.dlfo_link_map->l_addr;
  identities_[index].store(identity, std::memory_order_relaxed);
  module.end.store(reinterpret_cast<uint64_t>(object.dlfo_map_end), std::memory_order_release);
  return index;
}

// Another thread may have entered the same module meanwhile: that one stays.
bool ModuleTable::MarkOverlapped(const dl_find_object& object, uint64_t identity) {
  const uint64_t start = reinterpret_cast<uint64_t>(object.dlfo_map_start);
  const uint64_t end = reinterpret_cast<uint64_t>(object.dlfo_map_end);
  bool any = false;
  auto* modules = region_.Records<ModuleRecord>(Table::kModules);
  for (uint32_t i = 0; i < region_.count(Table::kModules); ++i) {
    ModuleRecord& module = modules[i];
    const uint64_t old_end = module.end.load(std::memory_order_acquire);
    if (module.start >= end || old_end <= start || IsUnloaded(i)) continue;
    if (Is(i, object, identity)) continue;
    __atomic_store_n(&module.unloaded, 1u, __ATOMIC_RELEASE);
    any = true;
  }
  return any;
}

bool ModuleTable::MarkUnloaded() {
  bool any = false;
  auto* modules = region_.Records<ModuleRecord>(Table::kModules);
  for (uint32_t i = 0; i < region_.count(Table::kModules); ++i) {
    ModuleRecord& module = modules[i];
    if (module.end.load(std::memory_order_acquire) == 0 || IsUnloaded(i)) continue;
    dl_find_object found;
    if (find_object(reinterpret_cast<void*>(module.start), &found) == 0 &&
        reinterpret_cast<uint64_t>(found.dlfo_map_start) == module.start &&
        found.dlfo_link_map->l_addr == module.load_bias) {
      continue;
    }
    __atomic_store_n(&module.unloaded, 1u, __ATOMIC_RELEASE);
    any = true;
  }
  return any;
}

bool ModuleTable::IsUnloaded(uint32_t module) const {
  if (module == kNoModule) return false;
  return __atomic_load_n(&region_.Records<ModuleRecord>(Table::kModules)[module].unloaded,
                         __ATOMIC_ACQUIRE) != 0;
}

}  // namespace memprof
