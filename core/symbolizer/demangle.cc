#include "core/symbolizer/demangle.h"

#include <csetjmp>
#include <cstring>
#include <string>
#include <string_view>

// libiberty's own header clashes with the system's declarations, so its functions are declared
// here. Its demangler knows names of templates in functions that libstdc++'s of gcc 12 gives up on.
extern "C" {
using DemangleCallback = void (*)(const char* text, size_t length, void* opaque);
int rust_demangle_callback(const char* mangled, int options, DemangleCallback callback,
                           void* opaque);
int cplus_demangle_v3_callback(const char* mangled, int options, DemangleCallback callback,
                               void* opaque);
}

namespace memprof {
namespace {

// Names this long are hostile or useless. A short mangled name may be of any length, since its parts
// refer to others: each of 60 may be two of the one before.
constexpr size_t kLongestName = 1 << 16;

constexpr int kParameters = 1 << 0;  // DMGL_PARAMS
constexpr int kQualifiers = 1 << 1;  // DMGL_ANSI: const, volatile

struct Demangled {
  std::string text;
  std::jmp_buf too_long;
};

void Append(const char* text, size_t length, void* opaque) {
  auto& to = *static_cast<Demangled*>(opaque);
  // The demangler can't be asked to stop. Its frames have memory on the stack only.
  if (to.text.size() + length > kLongestName) std::longjmp(to.too_long, 1);
  to.text.append(text, length);
}

// False: it is no such name, or it is too long.
bool DemangleBy(decltype(&rust_demangle_callback) demangle, const char* name, int options,
                Demangled& to) {
  to.text.clear();
  return setjmp(to.too_long) == 0 && demangle(name, options, Append, &to) != 0;
}

}  // namespace

std::string Demangle(const char* name) {
  if (strnlen(name, kLongestName) == kLongestName) return std::string(name, kLongestName);
  Demangled demangled;
  // Rust first: its legacy names are valid C++ names with a hash at their end.
  const bool may_be_rust = std::strncmp(name, "_R", 2) == 0 || std::strncmp(name, "_ZN", 3) == 0;
  if (may_be_rust && DemangleBy(rust_demangle_callback, name, 0, demangled)) return demangled.text;
  if (std::strncmp(name, "_Z", 2) == 0 &&
      DemangleBy(cplus_demangle_v3_callback, name, kParameters | kQualifiers, demangled)) {
    return demangled.text;
  }
  return name;
}

std::string DemangleType(const std::string& name) {
  constexpr std::string_view kWhat = "typeinfo name for ";
  std::string text = Demangle(("_ZTS" + name).c_str());
  return text.starts_with(kWhat) ? text.substr(kWhat.size()) : name;
}

}  // namespace memprof
