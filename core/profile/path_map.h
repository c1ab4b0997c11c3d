// PathMap: source paths as the reader of a report wants them: trimmed, or as they are on his
// machine.
//
// Rules "OLD=NEW" replace OLD where it is a whole path or its first components: "/build=/home/me"
// makes "/build/a.c" "/home/me/a.c" and leaves "/builder/a.c" alone. An empty NEW trims: "a.c". The
// first rule that fits is applied, once.
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
  // Failure: kUsage for text that is no rule: without '=', or with an empty OLD.
  Result<void> Add(const std::string& rule);

  bool empty() const { return rules_.empty(); }

  // Never empty where the path isn't.
  std::string Map(const std::string& path) const;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;  // without slashes at their ends
};

}  // namespace memprof
