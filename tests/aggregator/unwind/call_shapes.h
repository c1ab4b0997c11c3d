// Functions with all frame layouts that compilers make, compiled twice: with and without frame
// pointers. The innermost call of each is `leaf`.
#pragma once

namespace memprof::test {

using Leaf = void (*)();
using Callee = void (*)(int bytes, Leaf leaf);

#define MEMPROF_CALL_SHAPES(ns)                                               \
  namespace ns {                                                              \
  void Recurse(int depth, Leaf leaf);                                         \
  void ManyRegisters(int depth, long a, long b, long c, Leaf leaf);           \
  void BigFrame(int depth, Leaf leaf);                                        \
  void HugeFrame(Leaf leaf);                                                  \
  void UntouchedFrame(Leaf leaf);                                             \
  void VariableFrame(int depth, int bytes, Leaf leaf);                        \
  void Realigned(int depth, Leaf leaf);                                       \
  void RealignedVariable(int depth, int bytes, Leaf leaf);                    \
  /* The innermost of these two, as callees of Padded */                      \
  void VariableOnce(int bytes, Leaf leaf);                                    \
  void RealignedOnce(int bytes, Leaf leaf);                                   \
  /* Calls callee(bytes, leaf) below `padding` bytes that nothing writes */   \
  void Padded(int padding, Callee callee, int bytes, Leaf leaf);              \
  void SortedThrough(Leaf leaf);                                              \
  void ThrowThrough(int depth, Leaf leaf);                                    \
  void JumpThrough(int depth, Leaf leaf);                                     \
  /* Walks a call tree that `seed` determines, with `leaf` at random nodes */ \
  void RandomTree(unsigned seed, int depth, int calls, Leaf leaf);            \
  }
MEMPROF_CALL_SHAPES(without_frame_pointer)
MEMPROF_CALL_SHAPES(with_frame_pointer)

}  // namespace memprof::test
