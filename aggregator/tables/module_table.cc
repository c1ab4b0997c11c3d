#include "aggregator/tables/module_table.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>

#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/tables/module_path.h"
#include "aggregator/tables/program_path.h"
#include "aggregator/unwind/module_segments.h"

namespace memprof {
namespace {

FindObject find_object = nullptr;

// Read at the start: when a module is met first, there may be no room for a path on the stack.
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

// FNV-1a, in steps of 8 bytes as far as possible.
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

// Distinguishes the module from another one that was at the same place.
uint64_t IdentityOf(const dl_find_object& object) {
  const link_map* record = object.dlfo_link_map;
  const uintptr_t words[] = {reinterpret_cast<uintptr_t>(record),
                             reinterpret_cast<uintptr_t>(record->l_ld)};
  uint64_t hash = Hash(0xcbf29ce484222325ull, words, sizeof words);
  if (record->l_name != nullptr) hash = Hash(hash, record->l_name, strlen(record->l_name));
  const BuildId id = ReadBuildId(SegmentsOf(object));
  return Hash(hash, id.bytes, id.size) | 1;  // 0 means no module
}

bool HasExtent(const ModuleRecord& module, const dl_find_object& object) {
  return module.end.load(std::memory_order_acquire) ==
             reinterpret_cast<uint64_t>(object.dlfo_map_end) &&
         module.start == reinterpret_cast<uint64_t>(object.dlfo_map_start) &&
         module.load_bias == object.dlfo_link_map->l_addr;
}

}  // namespace

bool ModuleTable::Init() {
  // Looked up at run time: glibc before 2.35 has none, and a hard reference would keep the whole
  // library from loading there.
  find_object = TheLibc().find_object;
  if (find_object == nullptr) return false;
  program_path_bytes =
      WithoutDeleted(program_path, ReadProgramPath(program_path, sizeof program_path - 1));
  InitModuleSegments(find_object);
  return true;
}

bool ModuleTable::Start() {
  if (identities_ != nullptr) UnmapMemory(identities_, identities_bytes_);
  identities_bytes_ = uint64_t{region_.capacity(Table::kModules)} * sizeof *identities_;
  identities_ = static_cast<std::atomic<uint64_t>*>(MapMemory(identities_bytes_));
  return identities_ != nullptr;
}

bool ModuleTable::Is(uint32_t module, const dl_find_object& object, uint64_t identity) const {
  return identities_[module].load(std::memory_order_relaxed) == identity &&
         HasExtent(Record(module), object);
}

bool ModuleTable::FindRange(const void* address, uintptr_t* start, uintptr_t* end) {
  const FindObject find = TheLibc().find_object;  // it may be called before Init
  dl_find_object found;
  if (find == nullptr || find(const_cast<void*>(address), &found) != 0) return false;
  *start = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  *end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  return true;
}

ModuleTable::Found ModuleTable::Find(uint64_t pc) {
  dl_find_object object;
  if (find_object == nullptr || find_object(reinterpret_cast<void*>(pc), &object) != 0) return {};
  const uint64_t identity = IdentityOf(object);
  for (uint32_t i = region_.count(Table::kModules); i-- > 0;) {
    if (Is(i, object, identity)) return {.module = i};
  }
  Found found;
  found.replaced = MarkOverlapped(object, identity);
  found.again = TakeAgain(object, identity, &found.module);
  if (!found.again) found.module = Enter(object, identity);
  if (found.module == kNoModule) {
    region_.header().unnamed_frames.fetch_add(1, std::memory_order_relaxed);
  }
  return found;
}

// Finds an unloaded record of the same file at the same place, and uses it again.
bool ModuleTable::TakeAgain(const dl_find_object& object, uint64_t identity, uint32_t* module) {
  const char* strings = region_.Records<char>(Table::kStrings);
  for (uint32_t i = region_.count(Table::kModules); i-- > 0;) {
    const ModuleRecord& record = Record(i);
    if (!HasExtent(record, object) || !IsUnloaded(i)) continue;
    const BuildId id = ReadBuildId(SegmentsOf(object));
    const uint32_t id_bytes = id.size <= sizeof record.build_id ? id.size : 0;
    if (record.build_id_bytes != id_bytes || memcmp(record.build_id, id.bytes, id_bytes) != 0) {
      continue;
    }
    const ModulePath path(object, program_path, program_path_bytes);
    if (record.path_bytes != path.bytes() ||
        memcmp(strings + record.path_offset, path.text(), path.bytes()) != 0) {
      continue;
    }
    identities_[i].store(identity, std::memory_order_release);
    *module = i;
    return true;
  }
  return false;
}

// The place of the path in kStrings: that of a module with the same path, or a new one. kNoRecord:
// there is no room.
uint32_t ModuleTable::PathOf(const char* path, size_t bytes) {
  char* strings = region_.Records<char>(Table::kStrings);
  for (uint32_t i = region_.count(Table::kModules); i-- > 0;) {
    const ModuleRecord& record = Record(i);
    if (record.end.load(std::memory_order_acquire) != 0 && record.path_bytes == bytes &&
        memcmp(strings + record.path_offset, path, bytes) == 0) {
      return record.path_offset;
    }
  }
  const uint32_t offset = region_.Take(Table::kStrings, static_cast<uint32_t>(bytes));
  if (offset != kNoRecord) memcpy(strings + offset, path, bytes);
  return offset;
}

uint32_t ModuleTable::Enter(const dl_find_object& object, uint64_t identity) {
  const ModulePath name(object, program_path, program_path_bytes);
  const uint32_t path = PathOf(name.text(), name.bytes());
  const uint32_t index = path == kNoRecord ? kNoRecord : region_.Take(Table::kModules);
  if (index == kNoRecord) return kNoModule;
  if (index % (kPageBytes / sizeof *identities_) == 0) CountPrivateBytes(kPageBytes);
  ModuleRecord& module = region_.Records<ModuleRecord>(Table::kModules)[index];
  module.path_offset = path;
  module.path_bytes = static_cast<uint32_t>(name.bytes());
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
  for (uint32_t i = 0; i < region_.count(Table::kModules); ++i) {
    const ModuleRecord& module = Record(i);
    const uint64_t old_end = module.end.load(std::memory_order_acquire);
    if (old_end <= start || module.start >= end || IsUnloaded(i)) continue;
    if (Is(i, object, identity)) continue;
    identities_[i].store(0, std::memory_order_release);
    any = true;
  }
  return any;
}

bool ModuleTable::MarkUnloaded() {
  bool any = false;
  for (uint32_t i = 0; i < region_.count(Table::kModules); ++i) {
    const ModuleRecord& module = Record(i);
    uint64_t identity = identities_[i].load(std::memory_order_acquire);
    if (identity == 0 || module.end.load(std::memory_order_acquire) == 0) continue;
    dl_find_object found;
    if (find_object(reinterpret_cast<void*>(module.start), &found) == 0 &&
        reinterpret_cast<uint64_t>(found.dlfo_map_start) == module.start &&
        found.dlfo_link_map->l_addr == module.load_bias) {
      continue;
    }
    // It may have been loaded again meanwhile. If that isn't seen here, the next thread that meets
    // it uses its record again.
    any |= identities_[i].compare_exchange_strong(identity, 0, std::memory_order_acq_rel);
  }
  return any;
}

}  // namespace memprof
