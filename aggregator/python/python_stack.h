// PythonStack: a thread's last two chains of Python frames, and the words by which the newer one is
// verified.
//
// Thread safety: its thread's only. Memory: 300 KiB of address space, touched as it is used.
#pragma once

#include <cstdint>

#include "aggregator/python/frame_chain.h"
#include "aggregator/python/interpreter.h"
#include "aggregator/unwind/verified_stacks.h"

namespace memprof {

struct PythonStack {
  static constexpr uint32_t kMaxWords = 9 + 5 * FrameChain::kCapacity;

  FrameChain& now() { return chains[newer]; }
  const FrameChain& before() const { return chains[1 - newer]; }

  // All words of the newer chain that, unchanged, make it the same. Read in this order, each is
  // readable if those before it are unchanged. 0: it can't be verified.
  uint32_t ListWords(const Interpreter& interpreter, const uint64_t* code_deaths);

  uint32_t newer;
  FrameChain chains[2];
  VerifiedWord words[kMaxWords];
};

// How many of the native frames, root first, have the same nodes in both stacks as far as Python
// frames decide it. At most `unchanged`.
uint32_t UnchangedUpTo(const FrameChain& before, const FrameChain& now, uint32_t unchanged);

}  // namespace memprof
