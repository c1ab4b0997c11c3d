// The tables ask the unwinder for one thing only: to forget. This fake counts it. There are no
// captures.

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

int invalidations_for_test = 0;

void InvalidateUnwinder() { ++invalidations_for_test; }
void ForgetCaptures(StackMemory&) {}

}  // namespace memprof
