// Pattern: a glob or a regular expression that a name matches or not.
//
//   glob    "parse_*": * stands for any characters, ? for one, \ takes away their meaning. The
//           whole name has to match. A name copied from a report therefore matches itself.
//   regex   RE2's syntax. It may match anywhere in the name: anchor it with ^ and $.
//
// Names are bytes: no case folding, no Unicode.
// Thread safety: const after construction. Failure: kUsage for text that is not a pattern.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace re2 {
class RE2;
}

namespace memprof {

class Pattern {
 public:
  static Result<Pattern> Glob(std::string_view glob);
  // Matches the last components of a path: "src/*.cc" matches "/build/src/a/b.cc". A glob that
  // begins with a slash or a star has to match the whole path.
  static Result<Pattern> PathGlob(std::string_view glob);
  static Result<Pattern> Regex(std::string_view regex);

  bool Matches(std::string_view name) const;

  // The pattern as it was written; a regex between slashes.
  const std::string& text() const { return text_; }

 private:
  static Result<Pattern> Make(const std::string& expression, bool whole, std::string text);

  std::shared_ptr<const re2::RE2> expression_;
  bool whole_ = true;
  std::string text_;
};

}  // namespace memprof
