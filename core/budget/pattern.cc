#include "core/budget/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

namespace memprof {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

std::string Quoted(char c) { return RE2::QuoteMeta(re2::StringPiece(&c, 1)); }

std::string ExpressionOf(std::string_view glob) {
  std::string expression;
  for (size_t i = 0; i < glob.size(); ++i) {
    const char c = glob[i];
    if (c == '*') {
      expression += ".*";
    } else if (c == '?') {
      expression += '.';
    } else if (c == '\\' && i + 1 < glob.size()) {
      expression += Quoted(glob[++i]);
    } else {
      expression += Quoted(c);
    }
  }
  return expression;
}

}  // namespace

Result<Pattern> Pattern::Make(const std::string& expression, bool whole, std::string text) {
  if (text.empty()) return Fail(ErrorKind::kUsage, "an empty pattern matches nothing");
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  auto compiled = std::make_shared<const RE2>(Piece(expression), options);
  if (!compiled->ok()) {
    return Fail(ErrorKind::kUsage, fmt::format("'{}' is no pattern: {}", text, compiled->error()));
  }
  Pattern pattern;
  pattern.expression_ = std::move(compiled);
  pattern.whole_ = whole;
  pattern.text_ = std::move(text);
  return pattern;
}

Result<Pattern> Pattern::Glob(std::string_view glob) {
  return Make(ExpressionOf(glob), true, std::string(glob));
}

Result<Pattern> Pattern::PathGlob(std::string_view glob) {
  const bool anywhere = !glob.starts_with('/') && !glob.starts_with('*');
  return Make((anywhere ? "(?:.*/)?" : "") + ExpressionOf(glob), true, std::string(glob));
}

Result<Pattern> Pattern::Regex(std::string_view regex) {
  if (regex.empty()) return Make({}, false, {});
  return Make(std::string(regex), false, fmt::format("/{}/", regex));
}

bool Pattern::Matches(std::string_view name) const {
  return whole_ ? RE2::FullMatch(Piece(name), *expression_)
                : RE2::PartialMatch(Piece(name), *expression_);
}

}  // namespace memprof
