#include "core/frame_kind.h"

#include <array>
#include <cstddef>
#include <string>

#include "core/base_name.h"

namespace memprof {
namespace {

// Up to the first character after the name that ends it: "libc.so.6" and "libc-2.31.so" are libc,
// "libcairo.so.2" is not.
constexpr std::array<std::string_view, 17> kSystemModules = {
    "libc",
    "ld-linux-x86-64",
    "libpthread",
    "libm",
    "libdl",
    "librt",
    "libresolv",
    "libstdc++",
    "libgcc_s",
    "libc++",
    "libc++abi",
    "libjemalloc",
    "libtcmalloc",
    "libtcmalloc_minimal",
    "libmimalloc",
    "libmemusage",
    "libmalloc_debug",
};

// Functions that wrap an allocator or start things, in whichever module they were compiled into.
constexpr std::array<std::string_view, 21> kSystemFunctions = {
    "memprof_pool_alloc",
    "_start",
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "strndup",
    "__strdup",
    "asprintf",
    "vasprintf",
    "start_thread",
    "__libc_start_main",
    "__clone",
    "clone3",
    "_dl_start_user",
};

constexpr std::array<std::string_view, 3> kSystemNamespaces = {
    "std::", "__gnu_cxx::", "__cxxabiv1::"};

bool IsSystemModule(std::string_view module) {
  const std::string_view name = BaseName(module);
  if (name == "[vdso]" || IsOwnModule(module)) return true;
  for (std::string_view system : kSystemModules) {
    if (!name.starts_with(system)) continue;
    const std::string_view rest = name.substr(system.size());
    if (rest.empty() || rest.starts_with(".so") || rest.starts_with('-')) return true;
  }
  return false;
}

// The name without return type, arguments and template arguments' insides can't be told by a
// search for "std::": `void f(std::string)` is the program's own. Walks to the first '(' or '<'
// outside brackets; the last space before it ends the return type.
std::string_view QualifiedName(std::string_view function) {
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    switch (function[i]) {
      case '<':
        ++depth;
        break;
      case '>':
        if (depth > 0) --depth;
        break;
      case '(':
        if (depth > 0) break;
        if (function.substr(i).starts_with("(anonymous namespace)")) break;
        return function.substr(start, i - start);
      case ' ':
        // "operator new" is one name; "(anonymous namespace)" was let through above.
        if (depth == 0 && !function.substr(0, i).ends_with("operator") &&
            !function.substr(0, i).ends_with("(anonymous")) {
          start = i + 1;
        }
        break;
      default:
        break;
    }
  }
  return function.substr(start);
}

// "zmalloc", "xrealloc", "g_malloc0", "CRYPTO_zalloc", "zcalloc_num": an allocator's usual name
// with a short prefix, and perhaps a suffix. "mallocate" and "reallocation_policy" are not.
bool IsAllocationWrapper(std::string_view name) {
  constexpr size_t kLongestPrefix = 8;
  std::string lower;
  for (const char c : name) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const std::string_view stem :
       {"malloc", "calloc", "realloc", "zalloc", "memalign", "strdup", "strndup", "memdup"}) {
    const size_t at = lower.find(stem);
    if (at > kLongestPrefix) continue;  // npos is more, too
    const std::string_view suffix = std::string_view(lower).substr(at + stem.size());
    if (suffix.empty() || suffix == "array" || suffix == "0" || (at > 0 && suffix[0] == '_')) {
      return true;
    }
  }
  return false;
}

bool IsSystemFunction(std::string_view function) {
  if (function.starts_with("operator new") || function.starts_with("operator delete")) return true;
  for (std::string_view name : kSystemFunctions) {
    if (function == name) return true;
  }
  const std::string_view name = QualifiedName(function);
  if (IsAllocationWrapper(name)) return true;
  for (std::string_view scope : kSystemNamespaces) {
    if (name.starts_with(scope)) return true;
  }
  return false;
}

}  // namespace

bool IsOwnModule(std::string_view module) {
  const std::string_view name = BaseName(module);
  for (std::string_view own :
       {"libmemprof_preload.so", "libmemprof_attach.so", "libmemprof_jemalloc.so"}) {
    if (name.starts_with(own)) return true;
  }
  return false;
}

FrameKind ClassifyFrame(std::string_view function, std::string_view module) {
  if (module.empty() && function.starts_with('[')) return FrameKind::kRow;
  if (IsSystemModule(module) || IsSystemFunction(function)) return FrameKind::kSystem;
  return FrameKind::kProgram;
}

}  // namespace memprof
