#include "core/symbolizer/demangle.h"

#include <cstdlib>
#include <cstring>
#include <memory>

// libiberty's own header clashes with the system's declarations, so its functions are declared
// here. Its demangler knows names of templates in functions that libstdc++'s of gcc 12 gives up on.
extern "C" char* rust_demangle(const char* mangled, int options);
extern "C" char* cplus_demangle_v3(const char* mangled, int options);

namespace memprof {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};
using DemangledText = std::unique_ptr<char, Free>;

// Names this long are hostile or useless; demangling them can take for ever.
constexpr size_t kLongestName = 1 << 16;

constexpr int kParameters = 1 << 0;  // DMGL_PARAMS
constexpr int kQualifiers = 1 << 1;  // DMGL_ANSI: const, volatile

}  // namespace

std::string Demangle(const char* name) {
  if (strnlen(name, kLongestName) == kLongestName) return std::string(name, kLongestName);
  // Rust first: its legacy names are valid C++ names with a hash at their end.
  const bool may_be_rust = std::strncmp(name, "_R", 2) == 0 || std::strncmp(name, "_ZN", 3) == 0;
  if (may_be_rust) {
    if (const DemangledText rust{rust_demangle(name, 0)}) return rust.get();
  }
  if (std::strncmp(name, "_Z", 2) == 0) {
    if (const DemangledText cxx{cplus_demangle_v3(name, kParameters | kQualifiers)})
      return cxx.get();
  }
  return name;
}

}  // namespace memprof
