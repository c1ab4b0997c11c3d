// The entry points that `memprof attach` calls in the process, on a stack that it maps
// (core/protocol/attach_protocol.h).

#include <link.h>

#include <cstring>

#include "aggregator/allocator/find_real.h"
#include "aggregator/attach/attach_state.h"
#include "aggregator/attach/attached.h"
#include "aggregator/attach/got_slots.h"
#include "aggregator/attach/hook_table.h"
#include "aggregator/attach/own_image.h"
#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/own_header.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/start/start_and_stop.h"
#include "aggregator/state/process_tables.h"

#define MEMPROF_ENTRY_POINT extern "C" __attribute__((visibility("default"), used))

namespace memprof {

[[gnu::used]] constinit AttachState attach_state = {};

namespace {

// Only address space: memory that is unmapped before the end isn't reused.
constexpr size_t kRangeBytes = size_t{1} << 40;
constexpr size_t kLeastRangeBytes = size_t{1} << 36;

constinit bool has_key = false;

bool TakeRange() {
  for (size_t bytes = kRangeBytes; bytes >= kLeastRangeBytes; bytes /= 2) {
    if (TakeMemoryOfOneRange(bytes)) return true;
  }
  return false;
}

// The function that compilers call for the address of a thread-local variable. (dl_iterate_phdr
// gives no address before a thread has asked once.)
struct TlsIndex {
  unsigned long module;
  unsigned long offset;
};
using GetTlsAddress = void*(TlsIndex*);

bool NoteThreadLocals() {
  TlsIndex index = {};
  IterateObjects(
      [](dl_phdr_info* info, size_t, void* own) {
        if (info->dlpi_addr != reinterpret_cast<uintptr_t>(&__ehdr_start)) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type == PT_TLS) {
            attach_state.tls_bytes = info->dlpi_phdr[i].p_memsz;
          }
        }
        static_cast<TlsIndex*>(own)->module = info->dlpi_tls_modid;
        return 1;
      },
      &index);
  void* const symbol = FindReal("__tls_get_addr");
  if (symbol == nullptr || index.module == 0) return false;
  GetTlsAddress* get;
  memcpy(&get, &symbol, sizeof symbol);
  attach_state.tls_offset =
      static_cast<char*>(get(&index)) - static_cast<char*>(__builtin_thread_pointer());
  return true;
}

AttachResult Attach(const char* socket_path) {
  if (attach_state.phase != static_cast<uint32_t>(AttachPhase::kIdle)) return AttachResult::kBusy;
  if (!FindRealFunctions()) return AttachResult::kNoAllocator;
  FindUsableSize();
  if (!NoteThreadLocals() || !SaveImage()) return AttachResult::kNoMemory;
  attach_state.pid = kernel::Pid();
  const size_t bytes = strnlen(socket_path, sizeof attach_state.socket - 1);
  memcpy(attach_state.socket, socket_path, bytes);
  attach_state.socket[bytes] = 0;
  // From here on Forget is needed.
  attach_state.phase = static_cast<uint32_t>(AttachPhase::kDetached);
  if (MappingsAreLocked()) NoteLockedMappings();
  if (!TakeRange()) return AttachResult::kNoMemory;
  SetSocketPath(socket_path);
  const bool started = StartAgain();
  SetSocketPath(nullptr);
  has_key = exit_key != 0 || started;
  if (started) {
    attach_state.phase = static_cast<uint32_t>(AttachPhase::kAttached);
    return AttachResult::kCounting;
  }
  return mapped_region.base == nullptr ? AttachResult::kNoRegion : AttachResult::kNoStart;
}

}  // namespace
}  // namespace memprof

using namespace memprof;

MEMPROF_ENTRY_POINT uint64_t memprof_attach_v1(const char* socket_path) {
  const ErrnoGuard keep;
  return static_cast<uint64_t>(Attach(socket_path));
}

MEMPROF_ENTRY_POINT uint64_t memprof_detach_v1() {
  const ErrnoGuard keep;
  StopTracker();
  const uint32_t restored = UnhookAllModules();
  attach_state.phase = static_cast<uint32_t>(AttachPhase::kDetached);
  return restored;
}

// Takes no lock: the other threads stand still, and may hold any.
MEMPROF_ENTRY_POINT uint64_t memprof_forget_v1() {
  const ErrnoGuard keep;
  if (has_key) TheLibc().key_delete(exit_key);
  if (mapped_region.base != nullptr) kernel::Unmap(mapped_region.base, mapped_region.bytes);
  GiveRangeBack();
  RestoreImage();
  return 0;
}
