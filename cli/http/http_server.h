// What a server of HTTP/1.1 is asked and what it answers: HttpEngine (http_engine.h) serves them.
//
//   accept ─► a thread a connection ─► request (its whole reading has a deadline) ─► handler
//                                        ◄── response (so has its writing) ◄──────────┘
//
// More connections than `most_connections`: the one that has waited longest without a request is
// closed. If none of them waits, the new one is answered with 503.
//
// Thread safety: the handler is called by several threads at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memprof {

struct HttpRequest {
  std::string method;                               // "GET", "HEAD", "POST", …
  std::string path;                                 // decoded, without the query
  std::multimap<std::string, std::string> query;    // decoded
  std::multimap<std::string, std::string> headers;  // names in lower case

  // True if nobody waits for the answer any more: the peer is gone, or the server ends. For handlers
  // that wait themselves.
  std::function<bool()> abandoned;

  // The only one of this name; unset if there is none, or several.
  std::optional<std::string> Header(const std::string& name) const;
  std::optional<std::string> Query(const std::string& name) const;
};

using HttpBody = std::shared_ptr<const std::string>;
inline HttpBody MakeBody(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  HttpBody body = nullptr;  // null: empty
  std::vector<std::pair<std::string, std::string>> headers = {};
  // If set, it writes the body, piece by piece, and returns at the end of it. A write that returns
  // false says that the reader is gone or too slow, or that the server ends.
  using Write = std::function<bool(std::string_view)>;
  std::function<void(const Write&)> stream = {};
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpLimits {
  size_t most_connections = 64;
  size_t most_requests = 1000;                      // of a connection
  size_t most_request_bytes = 16384;                // line and headers; a body is refused
  std::chrono::milliseconds request_time{10'000};   // to send a request
  std::chrono::milliseconds idle_time{60'000};      // between requests
  std::chrono::milliseconds response_time{60'000};  // to take a response; of a stream: each piece
};

}  // namespace memprof
