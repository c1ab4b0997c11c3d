// Asks an HTTP server.
//
// Thread safety: pure, but for the network. Failure: one line that names the address; kIo if nobody
// answers in time or the answer is too long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/result.h"

namespace memprof {

// The environment's variable with the token of servers.
inline constexpr char kTokenVariable[] = "MEMPROF_SERVE_TOKEN";

struct HttpPlace {
  std::string host;  // a name or an address, without brackets; empty: `socket`
  uint16_t port = 80;
  std::string socket;  // a unix socket's path
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

struct HttpAskLimits {
  std::chrono::milliseconds time{10'000};  // to connect, and then for each piece
  size_t most_bytes = size_t{256} << 20;
};

// `target`: path and query. `token`: empty: none is sent.
Result<HttpAnswer> HttpAsk(const std::string& method, const HttpPlace& place,
                           const std::string& target, const std::string& token,
                           const HttpAskLimits& limits = {});

}  // namespace memprof
