// What an HTTP server is asked, and what it answers: HttpEngine (http_engine.h) asks it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

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
  std::chrono::milliseconds all_time{60'000};
  size_t most_bytes = size_t{256} << 20;
  size_t most_head_bytes = size_t{256} << 10;
};

}  // namespace memprof
