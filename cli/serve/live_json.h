// What /live answers: a look at a run for memprof top on another machine.
//
//   {"schema": 1, "pid": n, "supervisor": n, "capture": "…", "living": n, "ended": false,
//    "processes": [{"pid": n, "program": "…", "start_unix_ms": n, "rss_bytes": n, "figures": "…"}, …]}
//
// "figures" is a capture with names, in base64: the reader that captures have is made for foreign bytes.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/serve/served_look.h"

namespace memprof {

std::string LiveJsonOf(const ServedRunLook& run);

}  // namespace memprof
