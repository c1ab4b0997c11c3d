#include "core/frame_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base_name.h"

namespace memprof {
namespace {

// A module's name is compared up to the character that ends the name: "libc.so.6" and
// "libc-2.31.so" are libc, "libcairo.so.2" is not.
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

// The name without return type, arguments and template arguments. A search for "std::" would not
// do: `void f(std::string)` is the program's own. Walks to the first '(' or '<' outside brackets;
// the last space before it ends the return type.
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
        // "operator new" is one name; "(anonymous namespace)" was skipped above.
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

// Prefixes by which well-known libraries and programs call their wrappers of malloc and its like. A
// name that only ends so is no wrapper for sure: Leak_Realloc and cache_calloc do work of their own.
constexpr std::array<std::string_view, 26> kWrapperPrefixes = {
    "",          "x",         "z",       "g_",         "s_",        "ck_",      "my_",
    "je_",       "mi_",       "tc_",     "av_",        "apr_",      "sds_",     "rpl_",
    "safe_",     "uv__",      "git__",   "zend_",      "CRYPTO_",   "OPENSSL_", "PyMem_",
    "PyMem_Raw", "PyObject_", "_PyMem_", "_PyMem_Raw", "_PyObject_"};

constexpr std::array<std::string_view, 8> kWrapperStems = {
    "malloc", "calloc", "realloc", "zalloc", "memalign", "strdup", "strndup", "memdup"};

// The stem's first letter may be a capital.
bool BeginsWithStem(std::string_view name, std::string_view stem) {
  if (name.empty() || (name[0] | 0x20) != stem[0]) return false;
  return name.substr(1).starts_with(stem.substr(1));
}

// "zmalloc", "g_malloc0", "zcalloc_num", "PyMem_Malloc": a known prefix, an allocator's usual name,
// and perhaps a suffix. "mallocate" and "malloc_pages" are none.
bool IsAllocationWrapper(std::string_view name) {
  for (const std::string_view prefix : kWrapperPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    for (const std::string_view stem : kWrapperStems) {
      if (!BeginsWithStem(rest, stem)) continue;
      const std::string_view suffix = rest.substr(stem.size());
      if (suffix.empty() || suffix == "array" || suffix == "0" ||
          (!prefix.empty() && suffix[0] == '_')) {
        return true;
      }
    }
  }
  return false;
}

// The set is the whole process's, because each command classifies by one.
std::vector<std::function<bool(std::string_view)>>& AddedWrappers() {
  static std::vector<std::function<bool(std::string_view)>> added;
  return added;
}

bool IsAddedWrapper(std::string_view function) {
  const auto& added = AddedWrappers();
  return std::any_of(added.begin(), added.end(),
                     [&](const auto& is_wrapper) { return is_wrapper(function); });
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

void AddWrapper(std::function<bool(std::string_view function)> is_wrapper) {
  AddedWrappers().push_back(std::move(is_wrapper));
}

bool IsOwnModule(std::string_view module) {
  const std::string_view name = BaseName(module);
  for (std::string_view own :
       {"libmemprof_preload.so", "libmemprof_attach.so", "libmemprof_jemalloc.so"}) {
    if (name.starts_with(own)) return true;
  }
  return false;
}

bool IsInterpreterModule(std::string_view module) {
  std::string_view name = BaseName(module);
  if (name.starts_with("lib")) name.remove_prefix(3);
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  // "python", "python3", "python3.11d", "libpython3.11.so.1.0"
  return name.empty() || name.starts_with(".so") || (name[0] >= '0' && name[0] <= '9');
}

FrameKind ClassifyFrame(std::string_view function, std::string_view module) {
  // "<frozen importlib._bootstrap>" is how modules are imported; "<string>" is the program's.
  if (module.starts_with("<frozen ")) return FrameKind::kSystem;
  if (module.starts_with('<') || module.ends_with(".py")) return FrameKind::kProgram;
  if (module.empty() && function.starts_with('[')) return FrameKind::kRow;
  if (IsSystemModule(module) || IsSystemFunction(function) || IsAddedWrapper(function))
    return FrameKind::kSystem;
  return FrameKind::kProgram;
}

}  // namespace memprof
