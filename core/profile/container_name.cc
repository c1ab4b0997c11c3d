#include "core/profile/container_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/profile/function_name.h"

namespace memprof {
namespace {

constexpr size_t kLongestShown = 120;
// A hostile name may nest without end.
constexpr int kDeepest = 16;

// The class of libstdc++ or libc++ whose functions allocate, how people call it, and what it allocates.
struct Container {
  std::string_view name;
  std::string_view shown;
  std::string_view part;
};
constexpr std::array<Container, 24> kContainers = {{
    {"vector", "std::vector", ""},
    {"_Vector_base", "std::vector", ""},
    {"deque", "std::deque", ""},
    {"_Deque_base", "std::deque", ""},
    {"list", "std::list", " node"},
    {"_List_base", "std::list", " node"},
    {"forward_list", "std::forward_list", " node"},
    {"_Fwd_list_base", "std::forward_list", " node"},
    {"map", "std::map", " node"},
    {"multimap", "std::multimap", " node"},
    {"set", "std::set", " node"},
    {"multiset", "std::multiset", " node"},
    {"_Rb_tree", "std::_Rb_tree", " node"},
    {"__tree", "std::__tree", " node"},
    {"unordered_map", "std::unordered_map", " node"},
    {"unordered_multimap", "std::unordered_multimap", " node"},
    {"unordered_set", "std::unordered_set", " node"},
    {"unordered_multiset", "std::unordered_multiset", " node"},
    {"_Hashtable", "std::_Hashtable", " node"},
    {"__hash_table", "std::__hash_table", " node"},
    {"basic_string", "std::string", ""},
    {"function", "std::function", ""},
    {"shared_ptr", "std::shared_ptr", " count"},
    {"__shared_ptr", "std::shared_ptr", " count"},
}};

// Arguments that say nothing, since they follow from the others.
constexpr std::array<std::string_view, 10> kUsualArguments = {
    "std::allocator<",          "std::less<",           "std::hash<",
    "std::equal_to<",           "std::char_traits<",    "std::_Identity<",
    "std::_Select1st<",         "std::default_delete<", "std::__detail::",
    "(__gnu_cxx::_Lock_policy)"};

// "a<b<c>, d>::e" is {"a", "b<c>, d", "::e"}. Without brackets the first part is all.
struct Parts {
  std::string_view name, arguments, rest;
};

Parts Split(std::string_view type) {
  const size_t at = type.find('<');
  if (at == std::string_view::npos) return {type, {}, {}};
  const size_t behind = BehindBrackets(type, at);
  if (type[behind - 1] != '>') return {type, {}, {}};  // it doesn't close
  return {type.substr(0, at), type.substr(at + 1, behind - at - 2), type.substr(behind)};
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> ArgumentsOf(std::string_view text) {
  std::vector<std::string_view> arguments;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(') i = BehindBrackets(text, i) - 1;
    if (i < text.size() && text[i] == ',') {
      arguments.push_back(Trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!Trimmed(text).empty()) arguments.push_back(Trimmed(text.substr(begin)));
  return arguments;
}

bool IsUsual(std::string_view argument) {
  return std::any_of(kUsualArguments.begin(), kUsualArguments.end(),
                     [=](std::string_view usual) { return argument.starts_with(usual); });
}

// The namespaces of libraries' versions, which no one writes.
std::string WithoutVersions(std::string_view name) {
  std::string text(name);
  for (const std::string_view version : {"std::__cxx11::", "std::__1::", "std::__debug::"}) {
    for (size_t at = 0; (at = text.find(version, at)) != std::string::npos;) {
      text.replace(at, version.size(), "std::");
    }
  }
  return text;
}

std::string Shorter(std::string_view type, int depth) {
  const Parts parts = Split(type);
  if (parts.arguments.empty() || depth == kDeepest) return WithoutVersions(type);
  std::string name = WithoutVersions(parts.name);
  const std::vector<std::string_view> arguments = ArgumentsOf(parts.arguments);
  const std::string rest = parts.rest.empty() ? "" : Shorter(parts.rest, depth + 1);
  if (name == "std::basic_string" && !arguments.empty() && arguments[0] == "char") {
    return "std::string" + rest;
  }
  std::string shown;
  for (const std::string_view argument : arguments) {
    if (IsUsual(WithoutVersions(argument)) && !shown.empty()) continue;
    shown += (shown.empty() ? "" : ", ") + Shorter(argument, depth + 1);
  }
  return name + "<" + shown + ">" + rest;
}

std::string_view LastPart(std::string_view scoped) {
  const std::string_view name = Split(scoped).name;
  const size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

bool IsStandard(std::string_view name) {
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

std::string Bounded(std::string text) {
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown - 3) + "...";
  return text;
}

// For std::map<K, V, …> what people wrote: K, V.
std::string WithArguments(std::string_view shown, std::string_view arguments) {
  if (arguments.empty() || shown == "std::string") return std::string(shown);
  return Shorter(std::string(shown) + "<" + std::string(arguments) + ">", 0);
}

// Empty: the function is none of a container.
std::string ContainerBy(std::string_view function) {
  const std::string_view name = QualifiedName(function);
  if (!IsStandard(name)) return {};
  const std::vector<std::string_view> scopes = EnclosingScopes(name);
  if (!scopes.empty()) {
    const std::string_view last = LastPart(scopes.back());
    for (const Container& container : kContainers) {
      if (container.name == last) {
        return WithArguments(container.shown, Split(scopes.back()).arguments) +
               std::string(container.part);
      }
    }
  }
  // Functions that make one object: "std::make_unique<Session, int>".
  const std::string_view last = LastPart(name);
  if (last == "make_unique" || last == "make_shared" || last == "allocate_shared") {
    const std::vector<std::string_view> arguments = ArgumentsOf(Split(name).arguments);
    if (!arguments.empty()) return Shorter(arguments[0], 0);
  }
  return {};
}

// Which part of its container a block is, if it isn't what most are; empty: that.
std::string_view OtherPart(std::span<const std::string_view> functions) {
  for (const std::string_view function : functions) {
    const std::string_view name = QualifiedName(function);
    if (name.find("_M_allocate_buckets") != std::string_view::npos ||
        name.find("__do_rehash") != std::string_view::npos) {
      return " buckets";
    }
    for (const std::string_view map : {"_M_allocate_map", "_M_reallocate_map"}) {
      if (name.find(map) != std::string_view::npos) return " map";
    }
  }
  return {};
}

}  // namespace

std::string ContainerName(std::span<const std::string_view> functions) {
  // The outermost one is what the program wrote.
  for (size_t i = functions.size(); i-- > 0;) {
    std::string name = ContainerBy(functions[i]);
    if (name.empty()) continue;
    const std::string_view other = OtherPart(functions.first(i + 1));
    if (!other.empty() && name.ends_with(" node")) name.resize(name.size() - 5);
    return Bounded(name + std::string(other));
  }
  return {};
}

std::string ShortTypeName(std::string_view type) {
  const std::string_view last = LastPart(type);
  const std::vector<std::string_view> arguments = ArgumentsOf(Split(type).arguments);
  if (IsStandard(type) && !arguments.empty()) {
    // What std::make_shared makes: the object, after its count.
    if (last == "_Sp_counted_ptr_inplace") return Bounded(Shorter(arguments[0], 0));
    if (last == "_Sp_counted_ptr" || last == "_Sp_counted_deleter") {
      std::string_view object = arguments[0];
      if (object.ends_with('*')) object.remove_suffix(1);
      return Bounded("std::shared_ptr<" + Shorter(Trimmed(object), 0) + "> count");
    }
  }
  return Bounded(Shorter(type, 0));
}

}  // namespace memprof
