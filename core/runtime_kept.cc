#include "core/runtime_kept.h"

namespace memprof {
namespace {

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct Rule {
  const char* module;         // the innermost frame's library begins so
  const char* function;       // … and its function; null: any (a library without symbols for it)
  const char* caller_module;  // the next frame's library begins so; null: any
  uint64_t block_bytes;       // each block has this size; 0: any
  const char* reason;
};

constexpr Rule kRules[] = {
    // Static and without a name in the symbol table, hence told by its size and its caller: the
    // loader, which runs libstdc++'s constructors. GCC's eh_alloc.cc.
    {"libstdc++.so", nullptr, "ld-linux", 72704,
     "libstdc++'s emergency pool, for exceptions thrown when memory is out"},
    {"libc.so", "_IO_file_doallocate", nullptr, 0,
     "the buffer of a stdio stream, which exit does not free"},
};

bool Matches(const Rule& rule, std::span<const RuntimeFrame> frames, const SnapshotSite& site) {
  if (!BaseName(frames[0].module).starts_with(rule.module)) return false;
  if (rule.function != nullptr && frames[0].function != rule.function) return false;
  if (rule.caller_module != nullptr &&
      (frames.size() < 2 || !BaseName(frames[1].module).starts_with(rule.caller_module))) {
    return false;
  }
  return rule.block_bytes == 0 || (site.total.allocations != 0 &&
                                   site.total.bytes == rule.block_bytes * site.total.allocations);
}

}  // namespace

const char* WhyKeptByRuntime(std::span<const RuntimeFrame> frames, const SnapshotSite& site) {
  if (frames.empty()) return nullptr;
  for (const Rule& rule : kRules) {
    if (Matches(rule, frames, site)) return rule.reason;
  }
  return nullptr;
}

}  // namespace memprof
