// FramePlaces: where the Python frames of a chain belong among the native frames.
//
//   native    _start  main  …  loop  PyCall  loop  list_resize
//   Python                     f, g          h                    the segment of each loop
//   merged    _start  main  …  loop  f  g  PyCall  loop  h  list_resize
//
// A frame follows the activation of the interpreter's loop that runs it. Activations are found from
// the innermost one outwards, so that a native stack whose outer part is unknown still has its inner
// frames in the right places; Python frames further out then precede all native ones.
//
// Thread safety: pure.
#pragma once

#include "aggregator/python/eval_code.h"
#include "aggregator/python/frame_chain.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// Sets `after` of the chain's frames. `native`: the thread's stack, root first.
void PlaceFrames(const InterpreterLayout& layout, const EvalCode& eval,
                 const RememberedFrame* native, uint32_t depth, FrameChain& chain);

}  // namespace memprof
