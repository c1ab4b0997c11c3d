// Serve: answers HTTP for runs until it is told to end.
//
// Thread safety: one a process. Failure: none once it listens.
#pragma once

#include "cli/http/http_engine.h"
#include "cli/serve/access.h"
#include "cli/serve/listener.h"
#include "cli/serve/served_runs.h"

namespace memprof {

// Returns when `stop` is readable, or its other end is closed.
void Serve(const HttpEngine& engine, ServedRuns& runs, const AccessRules& rules,
           const Listener& listener, int stop);

}  // namespace memprof
