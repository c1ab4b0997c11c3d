#include "aggregator/tables/module_path.h"

#include <link.h>

#include <cstdint>
#include <cstring>

#include "aggregator/kernel_calls.h"
#include "aggregator/private_memory.h"
#include "aggregator/system_calls.h"
#include "aggregator/tables/program_path.h"

namespace memprof {

struct ModulePath::Room {
  char path[4096];
};

namespace {

constexpr char kDeleted[] = " (deleted)";
constexpr size_t kDeletedBytes = sizeof kDeleted - 1;

// 0: it isn't told.
size_t MappedPath(uint64_t address, char (&path)[4096]) {
  const int file = kernel::Open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const size_t bytes = ReadMappedPath(file, address, path, sizeof path - 1);
  kernel::Close(file);
  return WithoutDeleted(path, bytes);
}

// 0: it isn't told.
size_t PathFromHere(const char* name, size_t bytes, char (&path)[4096]) {
  const long with_end = kernel::Call(SYS_getcwd, path, sizeof path);
  if (with_end <= 1 || path[0] != '/') return 0;
  auto length = static_cast<size_t>(with_end - 1);
  if (bytes >= sizeof path - length - 1) return 0;
  if (path[length - 1] != '/') path[length++] = '/';
  memcpy(path + length, name, bytes);
  return length + bytes;
}

}  // namespace

size_t WithoutDeleted(char* path, size_t bytes) {
  if (bytes <= kDeletedBytes) return bytes;
  const size_t kept = bytes - kDeletedBytes;
  if (memcmp(path + kept, kDeleted, kDeletedBytes) != 0) return bytes;
  // Unless that is its name.
  path[bytes] = 0;
  struct stat info;
  return kernel::Stat(path, &info) == 0 ? bytes : kept;
}

ModulePath::ModulePath(const dl_find_object& object, const char* program, size_t program_bytes)
    : text_(object.dlfo_link_map->l_name) {
  bytes_ = text_ == nullptr ? 0 : strlen(text_);
  if (bytes_ == 0) {
    text_ = program;
    bytes_ = program_bytes;
    return;
  }
  if (strncmp(text_, "linux-vdso", 10) == 0) {
    text_ = "[vdso]";
    bytes_ = strlen(text_);
    return;
  }
  if (text_[0] == '/' || SystemCallsFiltered()) return;
  room_ = static_cast<Room*>(MapMemory(sizeof(Room)));
  if (room_ == nullptr) return;
  size_t bytes = MappedPath(reinterpret_cast<uint64_t>(object.dlfo_map_start), room_->path);
  if (bytes == 0) bytes = PathFromHere(text_, bytes_, room_->path);
  if (bytes == 0) return;
  text_ = room_->path;
  bytes_ = bytes;
}

ModulePath::~ModulePath() {
  if (room_ != nullptr) UnmapMemory(room_, sizeof(Room));
}

}  // namespace memprof
