// EvalCode: the code of the interpreter's loop, for versions in which an activation is known by its
// return address only (to 3.10).
//
// Compilers move unlikely parts of a function out of it. Such a part is found by the conditional
// jumps into it: a function of its own would be called.
//
// Thread safety: filled once, before it is used; then any thread.
#pragma once

#include <cstdint>

#include "aggregator/unwind/byte_cursor.h"

namespace memprof {

class EvalCode {
 public:
  // Finds the parts of the function that has the code at `pc`. False: it has no unwind data.
  bool Find(uintptr_t pc);

  // `pc` is a return address.
  bool Has(uintptr_t pc) const { return hot_.Contains(pc - 1) || cold_.Contains(pc - 1); }

 private:
  ByteRange hot_;
  ByteRange cold_;  // empty: there is none
};

}  // namespace memprof
