// HttpEngine: serves and asks by HTTP. It is a library of its own, libmemprof_http.so, loaded by the
// commands that need it: cpp-httplib brings OpenSSL and Brotli, which would double the time that every
// other command takes to start, and fill a small limit on its address space.
//
// Parsing and writing of HTTP is cpp-httplib's; the connections are ours, so that each of them is
// bounded in size and in time, and one that is slow, or says nothing, holds up nobody.
//
// Thread safety: all calls may be made by several threads. No exception crosses this header.
#pragma once

#include <string>

#include "cli/http/http_client.h"
#include "cli/http/http_server.h"
#include "core/result.h"

namespace memprof {

inline constexpr char kHttpLibraryName[] = "libmemprof_http.so";

class HttpEngine {
 public:
  // The process's only one; it stays loaded. Failure: the library is missing, or can't be loaded.
  static Result<const HttpEngine*> Load();

  // Answers until `stop` is readable, then closes all connections. Pre: `listener` listens.
  virtual void Serve(const HttpHandler& handler, const HttpLimits& limits, int listener,
                     int stop) const = 0;

  // `target`: path and query. `token`: empty: none is sent. Failure: one line that names the address;
  // kIo if nobody answers in time or the answer is too long.
  virtual Result<HttpAnswer> Ask(const std::string& method, const HttpPlace& place,
                                 const std::string& target, const std::string& token,
                                 const HttpAskLimits& limits) const = 0;

 protected:
  ~HttpEngine() = default;
};

}  // namespace memprof

// The library's only export. Null: it is of another version than the caller.
extern "C" [[gnu::visibility("default")]] const memprof::HttpEngine* MemprofHttpEngine(
    const char* version);
