// The functions of <cstring> that the tracker's libraries call, or for which the compiler inserts
// calls.
//
// A program may export functions of these names, and its own memcpy must not run within an event.
// These are bound when the library is linked and are not exported.
//
// Compiled without builtins and without link-time optimisation, or their loops would become calls
// of themselves. None is called often: short and hot code is inlined.

#include <cstddef>
#include <cstdint>

namespace {

using Byte = unsigned char;

int Difference(Byte a, Byte b) { return a < b ? -1 : a > b ? 1 : 0; }

}  // namespace

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) {
  void* const result = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}

void* memmove(void* to, const void* from, size_t bytes) {
  auto* const d = static_cast<Byte*>(to);
  const auto* const s = static_cast<const Byte*>(from);
  if (reinterpret_cast<uintptr_t>(d) - reinterpret_cast<uintptr_t>(s) >= bytes) {
    return memcpy(to, from, bytes);
  }
  while (bytes-- != 0) d[bytes] = s[bytes];
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  void* const result = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}

int memcmp(const void* a, const void* b, size_t bytes) {
  const auto* p = static_cast<const Byte*>(a);
  const auto* q = static_cast<const Byte*>(b);
  for (size_t i = 0; i < bytes; ++i) {
    if (p[i] != q[i]) return Difference(p[i], q[i]);
  }
  return 0;
}

void* memchr(const void* bytes, int wanted, size_t most) {
  const auto* p = static_cast<const Byte*>(bytes);
  for (size_t i = 0; i < most; ++i) {
    if (p[i] == static_cast<Byte>(wanted)) return const_cast<Byte*>(p + i);
  }
  return nullptr;
}

int bcmp(const void* a, const void* b, size_t bytes) { return memcmp(a, b, bytes); }

size_t strlen(const char* text) {
  size_t bytes = 0;
  while (text[bytes] != 0) ++bytes;
  return bytes;
}

size_t strnlen(const char* text, size_t most) {
  size_t bytes = 0;
  while (bytes < most && text[bytes] != 0) ++bytes;
  return bytes;
}

int strncmp(const char* a, const char* b, size_t most) {
  for (size_t i = 0; i < most; ++i) {
    if (a[i] != b[i]) return Difference(static_cast<Byte>(a[i]), static_cast<Byte>(b[i]));
    if (a[i] == 0) return 0;
  }
  return 0;
}

int strcmp(const char* a, const char* b) { return strncmp(a, b, SIZE_MAX); }

char* strchr(const char* text, int wanted) {
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) return const_cast<char*>(text);
    if (*text == 0) return nullptr;
  }
}

char* strrchr(const char* text, int wanted) {
  const char* last = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) last = text;
    if (*text == 0) return const_cast<char*>(last);
  }
}

char* strstr(const char* text, const char* wanted) {
  const size_t bytes = strlen(wanted);
  for (;; ++text) {
    if (strncmp(text, wanted, bytes) == 0) return const_cast<char*>(text);
    if (*text == 0) return nullptr;
  }
}

}  // extern "C"
