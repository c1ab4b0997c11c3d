#include "core/profile/path_map.h"

#include <fmt/format.h>

#include <filesystem>

namespace memprof {
namespace {

std::string WithoutLastSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Result<void> PathMap::Add(const std::string& rule) {
  const size_t equals = rule.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is no mapping of paths; write OLD=NEW, e.g. /build/src=/home/me, "
                            "or OLD= to trim",
                            rule));
  }
  // In the form in which the symbolizer writes paths: "/a/./b" and "/a/x/../b" are "/a/b".
  const std::filesystem::path old_path = rule.substr(0, equals);
  rules_.emplace_back(WithoutLastSlash(old_path.lexically_normal().string()),
                      WithoutLastSlash(rule.substr(equals + 1)));
  return {};
}

std::string PathMap::Map(const std::string& path) const {
  for (const auto& [from, to] : rules_) {
    if (!path.starts_with(from)) continue;
    std::string rest = path.substr(from.size());
    if (from != "/" && !rest.empty() && rest[0] != '/') continue;
    if (!rest.empty() && rest[0] == '/') rest.erase(0, 1);
    if (rest.empty()) return to.empty() ? path : to;
    if (to.empty()) return rest;
    return to == "/" ? to + rest : to + "/" + rest;
  }
  return path;
}

}  // namespace memprof
