// inlined_calls: a program of calls whose functions, files and lines are known.
//
// Prints "label 0xoffset" for each call of Here. Comments name the lines that symbolizer_test looks
// for.
#include "tests/core/symbolizer/inlined_calls.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" char __executable_start;  // by the linker: where the program is loaded
extern "C" void InAssembly(const char* label, void (*here)(const char*));
extern "C" void InUnsizedAssembly(const char* label, void (*here)(const char*));

namespace {

void Print(const char* label, void* return_address) {
  const auto address = reinterpret_cast<uintptr_t>(return_address);
  std::printf("%s 0x%lx\n", label, address - reinterpret_cast<uintptr_t>(&__executable_start));
}

}  // namespace

[[gnu::noinline]] void Here(const char* label) { Print(label, __builtin_return_address(0)); }

// The call of it is the last instruction of its caller.
[[gnu::noinline]] [[noreturn]] void HereAndExit(const char* label) {
  Print(label, __builtin_return_address(0));
  std::exit(0);
}

namespace shop {

template <typename T>
[[gnu::always_inline]] inline void Innermost(T) {
  Here("inlined");  // line: innermost
  NoTailCall();
}

[[gnu::always_inline]] inline void Middle(int n) {
  if (n > 0) Innermost<std::string>("x");  // line: middle
}

[[gnu::noinline]] void Outermost(int n) {
  Middle(n);  // line: outermost
}

namespace {

class Till {
 public:
  explicit Till(int n) : n_(n) {}
  [[gnu::noinline]] void Count() {
    Add();  // line: count
    NoTailCall();
  }

 private:
  [[gnu::always_inline]] void Add() {
    Here("anonymous");  // line: add
    NoTailCall();
    n_ = 2 * n_;
  }
  volatile int n_;
};

}  // namespace

[[gnu::noinline]] void Lambda(int n) {
  const auto lambda = [n](auto again) __attribute__((noinline)) {
    if (n > 100) again();
    Here("lambda");  // line: lambda
    NoTailCall();
  };
  lambda([] {});
  NoTailCall();
}

// Two lambdas of one function are two functions, inlined or not.
[[gnu::noinline]] void TwoLambdas(int n) {
  const auto first = [n](const char* what) __attribute__((always_inline)) {
    if (n > 0) Here(what);  // line: first lambda
    NoTailCall();
  };
  const auto second = [n](const char* what) __attribute__((noinline)) {
    if (n > 0) Here(what);  // line: second lambda
    NoTailCall();
  };
  first("first lambda");
  second("second lambda");
  NoTailCall();
}

namespace {

template <typename T>
[[gnu::always_inline]] inline T OnlyHere(const T& n, unsigned long, const std::string*) {
  Here("internal template");  // line: internal template
  NoTailCall();
  return n;
}

}  // namespace

[[gnu::noinline]] void CallsATemplate(int n) {
  static volatile long kept;
  kept = OnlyHere<long>(n, 3, nullptr);
  NoTailCall();
}

[[gnu::noinline]] [[noreturn]] void LastInstruction() {
  HereAndExit("last");  // line: last
}

// A C function: its name is not mangled.
extern "C" [[gnu::noinline]] void plain_c(int n) {
  if (n > 0) Here("plain");  // line: plain
  NoTailCall();
}

}  // namespace shop

int main(int argc, char**) {
  shop::Outermost(argc);
  shop::Till(argc).Count();
  shop::Lambda(argc);
  shop::TwoLambdas(argc);
  shop::CallsATemplate(argc);
  shop::plain_c(argc);
  InBothFiles();
  CallFromSecondFile();
  InAssembly("assembly", Here);
  InUnsizedAssembly("unsized assembly", Here);
  shop::LastInstruction();
}
