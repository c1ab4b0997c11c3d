#include "tests/aggregator/unwind/call_shapes.h"

#include <alloca.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>

// MEMPROF_SHAPES: the namespace, from the build.

namespace memprof::test::MEMPROF_SHAPES {
namespace {

#define KEEP __asm__ volatile("" ::: "memory")

[[gnu::noinline]] void Use(void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

Leaf g_sort_leaf;
int g_sort_calls;

int CompareAndProbe(const void* a, const void* b) {
  if (g_sort_calls++ % 3 == 0) g_sort_leaf();
  const int x = *static_cast<const int*>(a);
  const int y = *static_cast<const int*>(b);
  return x < y ? -1 : x > y;
}

struct LeafInDestructor {
  Leaf leaf;
  ~LeafInDestructor() { leaf(); }
};

std::jmp_buf g_jump;

[[gnu::noinline]] void JumpFrom(int depth, Leaf leaf) {
  if (depth > 0) {
    JumpFrom(depth - 1, leaf);
  } else {
    leaf();
    if (depth == 0) std::longjmp(g_jump, 1);
  }
  KEEP;
}

unsigned Next(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

void Walk(unsigned& state, int depth, int& calls, Leaf leaf);

[[gnu::noinline]] void Plain(unsigned& state, int depth, int& calls, Leaf leaf) {
  Walk(state, depth, calls, leaf);
  KEEP;
}

// Keeps values in callee-saved registers over its calls.
[[gnu::noinline]] void Loaded(unsigned& state, int depth, int& calls, Leaf leaf) {
  const long a = static_cast<long>(Next(state));
  const long b = a * 3 + depth;
  const long c = a ^ (b << 7);
  const long d = b - c;
  Walk(state, depth, calls, leaf);
  KEEP;
  if (a + b + c + d == 42) leaf();
  Walk(state, depth, calls, leaf);
  __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
}

[[gnu::noinline]] void Variable(unsigned& state, int depth, int& calls, Leaf leaf) {
  Use(alloca(16 + Next(state) % 512));
  Walk(state, depth, calls, leaf);
  KEEP;
}

[[gnu::noinline]] void Aligned(unsigned& state, int depth, int& calls, Leaf leaf) {
  alignas(64) char buffer[64];
  Use(buffer);
  Use(alloca(16 + Next(state) % 256));
  Walk(state, depth, calls, leaf);
  KEEP;
}

// `root(){P();P();}` in one function: a frame's slot and return address are the same both times,
// but the frames above it differ.
[[gnu::noinline]] void Twice(unsigned& state, int depth, int& calls, Leaf leaf) {
  Plain(state, depth, calls, leaf);
  Plain(state, depth, calls, leaf);
  KEEP;
}

[[gnu::noinline]] void Walk(unsigned& state, int depth, int& calls, Leaf leaf) {
  if (calls <= 0) return;
  --calls;
  const unsigned choice = Next(state) % 16;
  if (depth == 0 || choice < 3) {
    leaf();
  } else if (choice < 6) {
    Plain(state, depth - 1, calls, leaf);
  } else if (choice < 9) {
    Loaded(state, depth - 1, calls, leaf);
  } else if (choice < 11) {
    Variable(state, depth - 1, calls, leaf);
  } else if (choice < 12) {
    Aligned(state, depth - 1, calls, leaf);
  } else {
    Twice(state, depth - 1, calls, leaf);
  }
  KEEP;
}

}  // namespace

[[gnu::noinline]] void Recurse(int depth, Leaf leaf) {
  if (depth == 0) {
    leaf();
  } else {
    Recurse(depth - 1, leaf);
  }
  KEEP;
}

[[gnu::noinline]] void ManyRegisters(int depth, long a, long b, long c, Leaf leaf) {
  const long d = a * b + c;
  const long e = a ^ b ^ c;
  const long f = a - b;
  if (depth == 0) {
    leaf();
  } else {
    ManyRegisters(depth - 1, d, e, f, leaf);
  }
  __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

[[gnu::noinline]] void BigFrame(int depth, Leaf leaf) {
  char buffer[20'000];
  std::memset(buffer, depth, sizeof(buffer));
  Use(buffer);
  if (depth == 0) {
    leaf();
  } else {
    BigFrame(depth - 1, leaf);
  }
  KEEP;
}

// Most of its frame is never touched.
[[gnu::noinline]] void HugeFrame(Leaf leaf) {
  char buffer[3 << 20];
  Use(buffer);
  leaf();
  KEEP;
}

[[gnu::noinline]] void UntouchedFrame(Leaf leaf) {
  char buffer[1 << 12];
  Use(buffer);
  leaf();
  KEEP;
}

[[gnu::noinline]] void Padded(int padding, Callee callee, int bytes, Leaf leaf) {
  Use(alloca(static_cast<size_t>(padding)));
  callee(bytes, leaf);
  KEEP;
}

[[gnu::noinline]] void VariableFrame(int depth, int bytes, Leaf leaf) {
  void* buffer = alloca(static_cast<size_t>(bytes));
  Use(buffer);
  if (depth == 0) {
    leaf();
  } else {
    VariableFrame(depth - 1, bytes * 2, leaf);
  }
  KEEP;
}

[[gnu::noinline]] void Realigned(int depth, Leaf leaf) {
  alignas(128) char buffer[256];
  Use(buffer);
  if (depth == 0) {
    leaf();
  } else {
    Realigned(depth - 1, leaf);
  }
  KEEP;
}

[[gnu::noinline]] void RealignedVariable(int depth, int bytes, Leaf leaf) {
  alignas(64) char buffer[64];
  Use(buffer);
  Use(alloca(static_cast<size_t>(bytes)));
  if (depth == 0) {
    leaf();
  } else {
    RealignedVariable(depth - 1, bytes + 40, leaf);
  }
  KEEP;
}

[[gnu::noinline]] void VariableOnce(int bytes, Leaf leaf) {
  Use(alloca(static_cast<size_t>(bytes)));
  leaf();
  KEEP;
}

[[gnu::noinline]] void RealignedOnce(int bytes, Leaf leaf) {
  alignas(64) char buffer[64];
  Use(buffer);
  Use(alloca(static_cast<size_t>(bytes)));
  leaf();
  KEEP;
}

void SortedThrough(Leaf leaf) {
  int values[40];
  for (int i = 0; i < 40; ++i) values[i] = (i * 17) % 40;
  g_sort_leaf = leaf;
  g_sort_calls = 0;
  std::qsort(values, 40, sizeof(int), CompareAndProbe);
  KEEP;
}

[[gnu::noinline]] void ThrowThrough(int depth, Leaf leaf) {
  LeafInDestructor in_destructor{leaf};
  if (depth == 0) throw 7;
  ThrowThrough(depth - 1, leaf);
}

void JumpThrough(int depth, Leaf leaf) {
  if (setjmp(g_jump) == 0) JumpFrom(depth, leaf);
  leaf();
  KEEP;
}

void RandomTree(unsigned seed, int depth, int calls, Leaf leaf) {
  unsigned state = seed;
  while (calls > 0) Walk(state, depth, calls, leaf);
  KEEP;
}

}  // namespace memprof::test::MEMPROF_SHAPES
