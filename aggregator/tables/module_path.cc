#include "aggregator/tables/module_path.h"

#include <link.h>

#include <cstdint>
#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/tables/program_path.h"

namespace memprof {

struct ModulePath::Room {
  char path[4096];
};

namespace {

constexpr char kDeleted[] = " (deleted)";
constexpr size_t kDeletedBytes = sizeof kDeleted - 1;

// 0: not known.
size_t MappedPath(uint64_t address, char (&path)[4096]) {
  const int file = kernel::Open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const size_t bytes = ReadMappedPath(file, address, path, sizeof path - 1);
  kernel::Close(file);
  return WithoutDeleted(path, bytes);
}

}  // namespace

size_t WithoutDeleted(char* path, size_t bytes) {
  if (bytes <= kDeletedBytes) return bytes;
  const size_t kept = bytes - kDeletedBytes;
  if (memcmp(path + kept, kDeleted, kDeletedBytes) != 0) return bytes;
  // Unless the suffix is a part of the name.
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
  if (bytes == 0) bytes = PathFromHere({text_, bytes_}, room_->path, sizeof room_->path);
  if (bytes == 0) return;
  text_ = room_->path;
  bytes_ = bytes;
}

ModulePath::~ModulePath() {
  if (room_ != nullptr) UnmapMemory(room_, sizeof(Room));
}

}  // namespace memprof
