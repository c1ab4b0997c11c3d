// Pattern: what a name has to be to match: a glob, or a regular expression.
//
//   glob    "parse_*": * stands for any characters, ? for one; \ takes away their meaning. The
//           whole name has to match. So a name that was copied from a report matches itself.
//   regex   RE2's syntax; it may match anywhere in the name: anchor it with ^ and $.
//
// Names are bytes: no case folding, no Unicode.
// Thread safety: const after construction. Failure: kUsage for what is no pattern.
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
  // The last components of a path: "src/*.cc" matches "/build/src/a/b.cc". With a slash or a star
  // in front the whole path.
  static Result<Pattern> PathGlob(std::string_view glob);
  static Result<Pattern> Regex(std::string_view regex);

  bool Matches(std::string_view name) const;

  // As it was written; a regex between slashes.
  const std::string& text() const { return text_; }

 private:
  static Result<Pattern> Make(const std::string& expression, bool whole, std::string text);

  std::shared_ptr<const re2::RE2> expression_;
  bool whole_ = true;
  std::string text_;
};

}  // namespace memprof
