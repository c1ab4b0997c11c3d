#include "aggregator/state/thread_state.h"

namespace memprof {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

}  // namespace memprof
