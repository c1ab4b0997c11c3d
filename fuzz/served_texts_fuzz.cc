// Any bytes where a stranger's words are read: addresses, a request's Host, Origin and Authorization, and
// what a server of somebody else's answers to memprof top.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/http/base64.h"
#include "cli/http/http_place.h"
#include "cli/live/served_source.h"
#include "cli/serve/access.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto address = memprof::ParseListenAddress(text)) {
    // What was read is an address: it comes back as one.
    const std::string url = memprof::UrlOf(*address, address->port);
    const auto again = memprof::ParseListenAddress(url.substr(url.starts_with("http://") ? 7 : 0));
    if (!again || again->is_local() != address->is_local()) std::abort();
  }
  if (memprof::IsServedPlace(text)) (void)memprof::ParseServedPlace(text);
  if (const auto bytes = memprof::FromBase64(text)) (void)memprof::ToBase64(*bytes);
  (void)memprof::ParseServedRun(text);

  memprof::HttpRequest request;
  request.method = "GET";
  const size_t third = text.size() / 3;
  request.headers = {{"host", text.substr(0, third)},
                     {"origin", text.substr(third, third)},
                     {"authorization", text.substr(2 * third)}};
  memprof::AccessRules rules;
  (void)memprof::RefuseRequest(rules, request);
  rules.token = "0123456789abcdef0123456789abcdef";
  request.headers.erase("origin");
  request.headers.erase("host");
  request.headers.emplace("host", "localhost");
  // A token that is no part of the text isn't in its base64 either, unless that is as long.
  if (!memprof::RefuseRequest(rules, request) && text.find(rules.token) == std::string::npos &&
      text.size() < rules.token.size() * 4 / 3) {
    std::abort();
  }
  return 0;
}
