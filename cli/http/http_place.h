// Addresses of HTTP servers as people write them.
//
//   to listen   127.0.0.1:0   [::1]:9090   localhost:8080   0.0.0.0:80   unix:/run/user/1000/x.sock
//   to ask      http://host:port   http://[::1]:9090/?run=4711   unix:/run/user/1000/x.sock
//
// Thread safety: pure. Failure: kUsage, one line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/http/http_client.h"
#include "core/result.h"

namespace memprof {

struct ListenAddress {
  std::string host;       // an address of IPv4 or IPv6, without brackets; empty: `socket`
  uint16_t port = 0;      // 0: any free one
  std::string socket;     // a unix socket's absolute path
  bool is_local() const;  // loopback, or a unix socket
};
Result<ListenAddress> ParseListenAddress(const std::string& text);

// "http://127.0.0.1:4711", "unix:/path". `port`: the one that was chosen.
std::string UrlOf(const ListenAddress& address, uint16_t port);

struct ServedPlace {
  HttpPlace place;
  std::string run;  // the pid behind "?run="; empty: the only one
};
// True if `text` names a server: it begins with http:// or unix:/.
bool IsServedPlace(std::string_view text);
// Pre: IsServedPlace(text).
Result<ServedPlace> ParseServedPlace(const std::string& text);

// The host of "host", "host:port" or "[v6]:port", without brackets; empty: it is none of these.
std::string HostOf(std::string_view authority);

// An address of IPv4 or IPv6 in digits.
bool IsAddress(const std::string& host);

}  // namespace memprof
