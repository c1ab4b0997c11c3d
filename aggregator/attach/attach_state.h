// What the attaching process reads of us (core/protocol/attach_protocol.h).
#pragma once

#include "core/protocol/attach_protocol.h"

namespace memprof {

// Exported by the name that the protocol has for it.
[[gnu::visibility("default")]] extern AttachState attach_state __asm__("memprof_attach_state_v1");

}  // namespace memprof
