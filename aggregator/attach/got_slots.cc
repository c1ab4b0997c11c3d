#include "aggregator/attach/got_slots.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "aggregator/allocator/loaded_objects.h"
#include "aggregator/attach/attach_state.h"
#include "aggregator/attach/hook_table.h"
#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/basics/own_header.h"
#include "aggregator/basics/private_memory.h"

namespace memprof {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr size_t kMaxSlots = 65536;

struct Slot {
  void** at;
  void* before;
  bool loaded;  // used by ForgetGone
};
constinit Slot* slots = nullptr;
constinit size_t slot_count = 0;

constinit std::atomic<bool> looking{false};
constinit uint64_t modules_added = 0;  // the loader's count at the last look
constinit bool look_again = false;     // some module wasn't ready then

// The needed facts about a module.
struct Module {
  uintptr_t base;
  uintptr_t begin, end;              // of all its segments
  uintptr_t relro_begin, relro_end;  // read-only once it is relocated; empty: none
  const dl_phdr_info* info;
  const Elf64_Sym* symbols;
  const char* strings;
  const Elf64_Rela* tables[2];
  size_t counts[2];
};

Module Describe(const dl_phdr_info& info) {
  Module module = {};
  module.base = info.dlpi_addr;
  module.begin = UINTPTR_MAX;
  module.info = &info;
  const Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = info.dlpi_phdr[i];
    const uintptr_t begin = module.base + segment.p_vaddr;
    const uintptr_t end = begin + segment.p_memsz;
    if (segment.p_type == PT_LOAD) {
      if (begin < module.begin) module.begin = begin;
      if (end > module.end) module.end = end;
    } else if (segment.p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const Elf64_Dyn*>(begin);
    } else if (segment.p_type == PT_GNU_RELRO) {  // whole pages, as the loader protects them
      module.relro_begin = begin / kPage * kPage;
      module.relro_end = end / kPage * kPage;
    }
  }
  size_t bytes[2] = {};
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // The loader has added the base, unless it can't write there.
    const uintptr_t value = dynamic->d_un.d_ptr;
    const uintptr_t address = value < module.base ? value + module.base : value;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        module.symbols = reinterpret_cast<const Elf64_Sym*>(address);
        break;
      case DT_STRTAB:
        module.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        module.tables[0] = reinterpret_cast<const Elf64_Rela*>(address);
        break;
      case DT_PLTRELSZ:
        bytes[0] = dynamic->d_un.d_val;
        break;
      case DT_RELA:
        module.tables[1] = reinterpret_cast<const Elf64_Rela*>(address);
        break;
      case DT_RELASZ:
        bytes[1] = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (module.tables[i] != nullptr) module.counts[i] = bytes[i] / sizeof(Elf64_Rela);
  }
  if (module.symbols == nullptr || module.strings == nullptr) {
    module.counts[0] = module.counts[1] = 0;
  }
  return module;
}

bool IsForeign(const dl_phdr_info& info) {
  // 0 belongs to a program that isn't position-independent, or means that it isn't known for the
  // other two.
  return info.dlpi_addr == 0 ||
         (info.dlpi_addr != reinterpret_cast<uintptr_t>(&__ehdr_start) &&
          info.dlpi_addr != LoaderBase() && info.dlpi_addr != AuxiliaryValue(AT_SYSINFO_EHDR));
}

// True if the loader is done with it: its RELRO pages can't be written. The kernel is asked to
// write bytes that never change. The memory of this thread is used, since a main thread that has
// ended has none.
bool IsReady(const Module& module) {
  if (module.relro_begin >= module.relro_end) return true;
  for (int i = 0; i < module.info->dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = module.info->dlpi_phdr[i];
    const uintptr_t at = module.base + segment.p_vaddr;
    if (segment.p_type != PT_DYNAMIC || at < module.relro_begin || at + 8 > module.relro_end) {
      continue;
    }
    uint64_t tag;
    memcpy(&tag, reinterpret_cast<const void*>(at), sizeof tag);
    const iovec from = {&tag, sizeof tag};
    const iovec to = {reinterpret_cast<void*>(at), sizeof tag};
    return kernel::Call(SYS_process_vm_writev, kernel::Tid(), &from, 1, &to, 1, 0) == -EFAULT;
  }
  return true;
}

bool IsWritable(const Module& module, uintptr_t at) {
  for (int i = 0; i < module.info->dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = module.info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 &&
        at - (module.base + segment.p_vaddr) < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// Writes slots of one module; its RELRO pages are writable as long as this lives.
class SlotWriter {
 public:
  explicit SlotWriter(const Module& module) : module_(module) {}
  ~SlotWriter() {
    if (open_) Protect(PROT_READ);
  }
  SlotWriter(const SlotWriter&) = delete;
  SlotWriter& operator=(const SlotWriter&) = delete;

  bool Replace(void** at, void* before, void* by) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    if (address >= module_.relro_begin && address < module_.relro_end && !open_) {
      if (!Protect(PROT_READ | PROT_WRITE)) return false;
      open_ = true;
    }
    return __atomic_compare_exchange_n(at, &before, by, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }

 private:
  bool Protect(int protection) {
    return kernel::Protect(reinterpret_cast<void*>(module_.relro_begin),
                           module_.relro_end - module_.relro_begin, protection);
  }

  const Module& module_;
  bool open_ = false;
};

// The target of the module's own reference if it isn't the program's definition; nullptr: nobody
// defines it.
void* DefinitionSeenBy(const NamedHook& hook) {
  Definitions found;
  FindDefinitions(nullptr, &hook.name, 1, &found);
  return found.count == 1 ? found.first : nullptr;
}

bool IsToBeHooked(const Module& module, const NamedHook& hook, uint32_t type,
                  const Elf64_Sym& symbol, const void* value) {
  if (value == nullptr) return false;
  if (value == hook.real) return true;
  const auto at = reinterpret_cast<uintptr_t>(value);
  // Not bound yet: it holds the address of its own PLT entry.
  if (type == R_X86_64_JUMP_SLOT && symbol.st_shndx == SHN_UNDEF && at >= module.begin &&
      at < module.end) {
    return true;
  }
  return hook.real == nullptr && value == DefinitionSeenBy(hook);
}

void Note(void** at, void* before) {
  slots[slot_count++] = {at, before, true};
  ++attach_state.slots;
}

void HookSlots(const Module& module) {
  SlotWriter writer(module);
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; i < module.counts[table]; ++i) {
      const Elf64_Rela& relocation = module.tables[table][i];
      const uint32_t type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const Elf64_Sym& symbol = module.symbols[ELF64_R_SYM(relocation.r_info)];
      const NamedHook* hook = FindHook(module.strings + symbol.st_name);
      const uintptr_t address = module.base + relocation.r_offset;
      if (hook == nullptr || (type == R_X86_64_64 && relocation.r_addend != 0) ||
          !IsWritable(module, address)) {
        continue;
      }
      auto** const at = reinterpret_cast<void**>(address);
      void* const value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
      if (value == hook->hook) continue;
      if (slot_count < kMaxSlots && IsToBeHooked(module, *hook, type, symbol, value)) {
        if (writer.Replace(at, value, hook->hook)) Note(at, value);
      } else if (value != nullptr) {
        ++attach_state.left;
      }
    }
  }
}

// Frees the entries of modules that are gone.
void ForgetGone() {
  for (size_t i = 0; i < slot_count; ++i) slots[i].loaded = false;
  IterateObjects(
      [](dl_phdr_info* info, size_t, void*) {
        const Module module = Describe(*info);
        for (size_t i = 0; i < slot_count; ++i) {
          const auto address = reinterpret_cast<uintptr_t>(slots[i].at);
          slots[i].loaded |= address >= module.begin && address < module.end;
        }
        return 0;
      },
      nullptr);
  size_t kept = 0;
  for (size_t i = 0; i < slot_count; ++i) {
    if (slots[i].loaded) slots[kept++] = slots[i];
  }
  slot_count = kept;
}

int HookModule(dl_phdr_info* info, size_t, void*) {
  modules_added = info->dlpi_adds;
  if (!IsForeign(*info)) return 0;
  const Module module = Describe(*info);
  if (module.counts[0] + module.counts[1] == 0) return 0;
  if (IsReady(module)) {
    HookSlots(module);
  } else {
    look_again = true;
  }
  return 0;
}

void Look() {
  look_again = false;
  attach_state.left = 0;
  if (slot_count > kMaxSlots / 2) ForgetGone();
  IterateObjects(HookModule, nullptr);
}

int UnhookModule(dl_phdr_info* info, size_t, void* restored) {
  if (!IsForeign(*info)) return 0;
  const Module module = Describe(*info);
  SlotWriter writer(module);
  // The newest first: another module may be at the place of an older one.
  for (size_t i = slot_count; i-- > 0;) {
    const auto address = reinterpret_cast<uintptr_t>(slots[i].at);
    if (address < module.begin || address >= module.end || !IsWritable(module, address)) continue;
    void* const value = __atomic_load_n(slots[i].at, __ATOMIC_ACQUIRE);
    if (!IsHook(value)) continue;
    if (writer.Replace(slots[i].at, value, slots[i].before)) ++*static_cast<uint32_t*>(restored);
  }
  return 0;
}

}  // namespace

bool HookAllModules() {
  slots = static_cast<Slot*>(MapMemory(kMaxSlots * sizeof(Slot)));
  if (slots == nullptr) return false;
  Look();
  Look();  // hooks what was bound meanwhile
  return true;
}

void HookNewModules(bool look) {
  const ErrnoGuard keep;
  if (!look && !look_again) {
    uint64_t added = modules_added;
    IterateObjects(
        [](dl_phdr_info* info, size_t, void* count) {
          *static_cast<uint64_t*>(count) = info->dlpi_adds;
          return 1;
        },
        &added);
    if (added == modules_added) return;
  }
  if (looking.exchange(true, std::memory_order_acquire)) return;
  if (slots != nullptr) Look();
  looking.store(false, std::memory_order_release);
}

uint32_t UnhookAllModules() {
  uint32_t restored = 0;
  if (slots == nullptr) return 0;
  // Another thread may be looking; if it left by longjmp it never finishes.
  for (int i = 0; i < 100 && looking.exchange(true, std::memory_order_acquire); ++i) {
    // Not by nanosleep: the kernel would forget which call of the program's it is to restart.
    kernel::Call(SYS_poll, nullptr, 0, 1);
  }
  IterateObjects(UnhookModule, &restored);
  slot_count = 0;
  attach_state.slots = 0;
  looking.store(false, std::memory_order_release);
  return restored;
}

}  // namespace memprof
