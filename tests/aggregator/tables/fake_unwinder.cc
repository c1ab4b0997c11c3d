// The tables ask the unwinder for one thing only: to forget. Here it is counted.

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

int invalidations_for_test = 0;

void InvalidateUnwinder() { ++invalidations_for_test; }

}  // namespace memprof
