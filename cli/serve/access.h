// Who may ask a server of ours: which requests are refused before anything else is looked at.
//
//   Host     an address in digits, localhost, or a name that was allowed. A page of another site whose
//            name points to this machine (DNS rebinding) sends its own name
//   Origin   none, or the server's own. A browser sends it for requests of scripts and forms
//   token    as "Authorization: Bearer TOKEN", or as the password of "Basic"; compared in constant time
//
// Behind a unix socket the file's permissions decide, and there is no Host to check.
//
// Thread safety: pure. Failure: Result, one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/http/http_server.h"
#include "core/result.h"

namespace memprof {

inline constexpr size_t kShortestToken = 16;

struct AccessRules {
  bool checks_host = true;
  std::vector<std::string> names;  // allowed in Host, in lower case
  std::string token;               // empty: none is asked for
};

// Why the request is refused; unset: it may go on.
std::optional<HttpResponse> RefuseRequest(const AccessRules& rules, const HttpRequest& request);

// Takes as long for each `given` of one length.
bool IsSameSecret(std::string_view given, std::string_view secret);

// From the file, else from the environment (kTokenVariable); empty: there is none. `file`: empty, or a file of this user
// or root that others can't write or read.
Result<std::string> ReadToken(const std::string& file);

}  // namespace memprof
