#include "core/profile/function_name.h"

#include <cctype>
#include <cstddef>

namespace memprof {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool IsOperatorAt(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with(kOperator)) return false;
  if (at > 0 && IsWordPart(text[at - 1])) return false;
  const size_t behind = at + kOperator.size();
  return behind < text.size() && !IsWordPart(text[behind]);
}

// The index after an operator's name: "operator<<", "operator()", "operator new", "operator bool".
size_t BehindOperator(std::string_view text, size_t at) {
  size_t i = at + kOperator.size();
  if (text.substr(i).starts_with("()")) return i + 2;
  if (text[i] != ' ') return text.find_first_not_of("<>=!+-*/%^&|~,[]", i);
  while (i < text.size() && text[i] != '(') {
    i = text[i] == '<' || text[i] == '{' ? BehindBrackets(text, i) : i + 1;
  }
  return i;
}

// The names declared in a function follow its parameters: "main()::{lambda()#1}".
size_t BehindLocalScope(std::string_view text, size_t parameters) {
  size_t i = BehindBrackets(text, parameters);
  if (text.substr(i).starts_with(" const")) i += std::string_view(" const").size();
  return text.substr(i).starts_with("::") ? i : std::string_view::npos;
}

}  // namespace

size_t BehindBrackets(std::string_view text, size_t at) {
  size_t depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '>' || c == '}' || c == ']') && !arrow && --depth == 0) return i + 1;
  }
  return text.size();
}

std::string_view QualifiedName(std::string_view function) {
  size_t start = 0;
  size_t i = 0;
  while (i < function.size()) {
    const char c = function[i];
    if (IsOperatorAt(function, i)) {
      i = BehindOperator(function, i);
      if (i == std::string_view::npos) break;
    } else if (function.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size();
    } else if (c == '(') {
      const size_t behind = BehindLocalScope(function, i);
      if (behind == std::string_view::npos) break;
      i = behind;
    } else if (c == '<' || c == '{' || c == '[') {
      i = BehindBrackets(function, i);
    } else {
      ++i;
      if (c == ' ' && !function.substr(i).starts_with('<')) start = i;
    }
  }
  const size_t end = i < function.size() ? i : function.size();
  return function.substr(start, end - start);
}

std::vector<std::string_view> EnclosingScopes(std::string_view name) {
  std::vector<std::string_view> scopes;
  for (size_t i = 0; i < name.size();) {
    if (IsOperatorAt(name, i)) break;
    const char c = name[i];
    if (c == '(' || c == '<' || c == '{' || c == '[') {
      i = BehindBrackets(name, i);
    } else if (name.substr(i).starts_with("::")) {
      if (i != 0) scopes.push_back(name.substr(0, i));
      i += 2;
    } else {
      ++i;
    }
  }
  return scopes;
}

}  // namespace memprof
