// The state that the attaching process reads (core/protocol/attach_protocol.h).
#pragma once

#include "core/protocol/attach_protocol.h"

namespace memprof {

// Exported under the protocol's name.
[[gnu::visibility("default")]] extern AttachState attach_state __asm__("memprof_attach_state_v1");

}  // namespace memprof
