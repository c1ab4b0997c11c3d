#include "cli/http/http_server.h"

namespace memprof {
namespace {

std::optional<std::string> Only(const std::multimap<std::string, std::string>& all,
                                const std::string& name) {
  const auto [first, last] = all.equal_range(name);
  if (first == last || std::next(first) != last) return std::nullopt;
  return first->second;
}

}  // namespace

std::optional<std::string> HttpRequest::Header(const std::string& name) const {
  return Only(headers, name);
}

std::optional<std::string> HttpRequest::Query(const std::string& name) const {
  return Only(query, name);
}

}  // namespace memprof
