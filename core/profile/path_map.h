// PathMap: rewrites source paths for the reader of a report: trims them, or maps them to paths on
// the reader's machine.
//
// A rule "OLD=NEW" replaces OLD if it is a whole path or its first components: "/build=/home/me"
// turns "/build/a.c" into "/home/me/a.c" and leaves "/builder/a.c" alone. An empty NEW trims:
// "a.c". The first rule that fits is applied, once.
//
// Thread safety: const after the last Add.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace memprof {

class PathMap {
 public:
  // Failure: kUsage for a rule without '=' or with an empty OLD.
  Result<void> Add(const std::string& rule);

  bool empty() const { return rules_.empty(); }

  // The result is empty only if the path is.
  std::string Map(const std::string& path) const;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;  // without slashes at their ends
};

}  // namespace memprof
