#include "aggregator/hooks/bypasses.h"

#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "core/protocol/region_layout.h"

namespace memprof {
namespace {

constexpr uint32_t kNotCalled = UINT32_MAX;

// The number of objects before the first RTLD_DEEPBIND: the modules that it brought are behind them
// in the loader's list.
constinit std::atomic<uint32_t> objects_before{kNotCalled};
constinit std::atomic<bool> namespaces_asked{false};
// The findings of looks, which stay; and requests that were not looked at yet.
constinit std::atomic<uint32_t> found{0};
constinit std::atomic<uint32_t> maybe{0};

bool IsOfTheAllocator(const char* name) {
  static constexpr const char* kNames[] = {
      "malloc",   "free",           "calloc",        "realloc", "reallocarray",
      "memalign", "posix_memalign", "aligned_alloc", "valloc",  "pvalloc"};
  for (const char* one : kNames) {
    if (strcmp(one, name) == 0) return true;
  }
  return false;
}

// --- RTLD_DEEPBIND -------------------------------------------------------------------------------

struct Slots {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const Elf64_Rela* tables[2] = {};
  size_t counts[2] = {};
};

Slots SlotsOf(const link_map& object) {
  Slots slots;
  size_t relative = 0;  // at the front of the second table, without a symbol
  for (const Elf64_Dyn* entry = object.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // The loader has added the bias, unless it can't write there (the vdso).
    const uint64_t value = entry->d_un.d_ptr;
    const uint64_t address = value < object.l_addr ? value + object.l_addr : value;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        slots.symbols = reinterpret_cast<const Elf64_Sym*>(address);
        break;
      case DT_STRTAB:
        slots.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        slots.tables[0] = reinterpret_cast<const Elf64_Rela*>(address);
        break;
      case DT_PLTRELSZ:
        slots.counts[0] = value / sizeof(Elf64_Rela);
        break;
      case DT_RELA:
        slots.tables[1] = reinterpret_cast<const Elf64_Rela*>(address);
        break;
      case DT_RELASZ:
        slots.counts[1] = value / sizeof(Elf64_Rela);
        break;
      case DT_RELACOUNT:
        relative = value;
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (slots.tables[i] == nullptr) slots.counts[i] = 0;
  }
  if (relative <= slots.counts[1]) {
    slots.tables[1] += relative;
    slots.counts[1] -= relative;
  }
  if (slots.symbols == nullptr || slots.strings == nullptr) slots.counts[0] = slots.counts[1] = 0;
  return slots;
}

const link_map* ObjectAt(void* address) {
  const FindObject find = TheLibc().find_object;
  dl_find_object object;
  if (find == nullptr || find(address, &object) != 0) return nullptr;
  return object.dlfo_link_map;
}

// The object that references without a scope of their own are bound to: this library, unless the
// executable or a preload before it has a malloc.
const link_map* GlobalAllocator() {
  const link_map* object = LoadedObjects();
  while (object != nullptr && object->l_ld != _DYNAMIC && FindIn(*object, "malloc") == nullptr) {
    object = object->l_next;
  }
  return object;
}

enum class Bound { kAsAll, kElsewhere, kNotYet };

Bound BoundTo(const link_map& object, const Elf64_Sym& symbol, void* value,
              const link_map* global) {
  const link_map* const to = ObjectAt(value);
  // Unchanged from the file, or its own entry of the PLT.
  if (to == nullptr || (to == &object && symbol.st_shndx == SHN_UNDEF)) return Bound::kNotYet;
  return to == global ? Bound::kAsAll : Bound::kElsewhere;
}

struct Found {
  bool elsewhere = false;  // something bypasses the hooks
  bool not_yet = false;    // something may do so later
};

void LookAt(const link_map& object, const link_map* global, Found& all) {
  const Slots slots = SlotsOf(object);
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; i < slots.counts[table]; ++i) {
      const Elf64_Rela& relocation = slots.tables[table][i];
      const uint32_t type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const Elf64_Sym& symbol = slots.symbols[ELF64_R_SYM(relocation.r_info)];
      if (!IsOfTheAllocator(slots.strings + symbol.st_name)) continue;
      auto** const slot = reinterpret_cast<void**>(object.l_addr + relocation.r_offset);
      void* const value = __atomic_load_n(slot, __ATOMIC_RELAXED);
      const Bound bound = BoundTo(object, symbol, value, global);
      all.elsewhere |= bound == Bound::kElsewhere;
      all.not_yet |= bound == Bound::kNotYet;
    }
  }
}

Found FindDeepBound() {
  Found all;
  const uint32_t before = objects_before.load(std::memory_order_relaxed);
  const link_map* const global = GlobalAllocator();
  uint32_t position = 0;
  for (const link_map* object = LoadedObjects(); object != nullptr; object = object->l_next) {
    if (position++ >= before) LookAt(*object, global, all);
  }
  all.not_yet |= position <= before;  // the module isn't in the list yet
  return all;
}

// --- namespaces ----------------------------------------------------------------------------------

// The loader's record of namespaces, found through the executable's own pointer to it: the
// executable may have a copy of _r_debug without the part that names the next namespace. nullptr:
// it isn't known.
const r_debug_extended* FirstNamespace() {
  const link_map* const program = LoadedObjects();
  for (const Elf64_Dyn* entry = program != nullptr ? program->l_ld : nullptr;
       entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_DEBUG || entry->d_un.d_ptr == 0) continue;
    const auto* debug = reinterpret_cast<const r_debug_extended*>(entry->d_un.d_ptr);
    return debug->base.r_version >= 2 ? debug : nullptr;
  }
  return nullptr;
}

bool HasALibcOfItsOwn(const r_debug_extended& space) {
  for (const link_map* object = space.base.r_map; object != nullptr; object = object->l_next) {
    if (strcmp(SonameOf(*object), "libc.so.6") == 0) return true;
  }
  return false;
}

Found FindNamespaces() {
  Found all;
  const r_debug_extended* space = FirstNamespace();
  all.not_yet = space == nullptr;
  for (space = space != nullptr ? space->r_next : nullptr; space != nullptr;
       space = space->r_next) {
    all.elsewhere |= HasALibcOfItsOwn(*space);
  }
  all.not_yet |= !all.elsewhere;  // it may be coming
  return all;
}

// --- both ----------------------------------------------------------------------------------------

void Settle(uint32_t which, const Found& now, bool at_end) {
  if (now.elsewhere) found.fetch_or(which, std::memory_order_relaxed);
  if (at_end || !now.not_yet) maybe.fetch_and(~which, std::memory_order_relaxed);
}

struct Wanted {
  bool deep_bound;
  bool namespaces;
  bool at_end;
};

void Look(bool at_end) {
  const uint32_t known = found.load(std::memory_order_relaxed);
  Wanted wanted = {
      (known & kDeepBound) == 0 && objects_before.load(std::memory_order_relaxed) != kNotCalled,
      (known & kOtherNamespace) == 0 && namespaces_asked.load(std::memory_order_relaxed), at_end};
  if (!wanted.deep_bound && !wanted.namespaces) return;
  const ErrnoGuard keep;
  // Only for the lock that is held during the call.
  IterateObjects(
      [](dl_phdr_info*, size_t, void* data) {
        const auto& these = *static_cast<const Wanted*>(data);
        if (these.deep_bound) Settle(kDeepBound, FindDeepBound(), these.at_end);
        if (these.namespaces) Settle(kOtherNamespace, FindNamespaces(), these.at_end);
        return 1;
      },
      &wanted);
  PublishBypasses();
}

void Ask(uint32_t which) {
  maybe.fetch_or(which, std::memory_order_relaxed);
  PublishBypasses();
}

}  // namespace

void BeforeDeepBind() {
  Look(false);
  if (objects_before.load(std::memory_order_relaxed) == kNotCalled) {
    uint32_t objects = 0;
    IterateObjects(
        [](dl_phdr_info*, size_t, void* count) {
          for (const link_map* object = LoadedObjects(); object != nullptr;
               object = object->l_next) {
            ++*static_cast<uint32_t*>(count);
          }
          return 1;
        },
        &objects);
    objects_before.store(objects, std::memory_order_relaxed);
  }
  Ask(kDeepBound);
}

void BeforeNamespace() {
  Look(false);
  namespaces_asked.store(true, std::memory_order_relaxed);
  Ask(kOtherNamespace);
}

void LookForBypasses() { Look(false); }
void LookForBypassesAtEnd() { Look(true); }

void BeforeClose() {
  Look(false);
  // From now on other objects may be at their places.
  if (objects_before.load(std::memory_order_relaxed) != kNotCalled) {
    objects_before.store(0, std::memory_order_relaxed);
  }
}

void PublishBypasses() {
  if (!CountsAnything()) return;
  CurrentRegion().bypasses.store(
      found.load(std::memory_order_relaxed) | maybe.load(std::memory_order_relaxed),
      std::memory_order_relaxed);
}

}  // namespace memprof
