#include "core/symbolizer/type_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/symbolizer/dies.h"

namespace memprof {
namespace {

constexpr size_t kLongest = 1 << 14;  // bytes of a name; templates nest without end
constexpr int kDeepestBlock = 200;    // nesting of blocks in a function

const char* NameIn(Dwarf_Die& die) {
  const char* name = dwarf_diename(&die);
  return name != nullptr && *name != 0 ? name : nullptr;
}

std::optional<Dwarf_Die> Reference(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &target) == nullptr) {
    return std::nullopt;
  }
  return target;
}

uint64_t Number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &number) != 0) {
    return 0;
  }
  return number;
}

// gcc writes "long unsigned int", where clang and the demanglers write "unsigned long".
std::string_view BaseTypeName(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"long int", "long"},           {"long unsigned int", "unsigned long"},
      {"long long int", "long long"}, {"long long unsigned int", "unsigned long long"},
      {"short int", "short"},         {"short unsigned int", "unsigned short"}};
  for (const auto& [gcc, usual] : kNames) {
    if (name == gcc) return usual;
  }
  return name;
}

// The letters behind a number in a template's arguments.
std::string_view LiteralSuffix(std::string_view type) {
  if (type == "unsigned int") return "u";
  if (type == "long") return "l";
  if (type == "unsigned long") return "ul";
  if (type == "long long") return "ll";
  if (type == "unsigned long long") return "ull";
  return "";
}

Dwarf_Die WithoutTypedefs(Dwarf_Die type) {
  for (int i = 0; i < TypeNames::kDeepest && dwarf_tag(&type) == DW_TAG_typedef; ++i) {
    const auto target = Reference(type, DW_AT_type);
    if (!target) break;
    type = *target;
  }
  return type;
}

// The call operator of a lambda's class; nothing: it has none.
std::optional<Dwarf_Die> CallOperator(Dwarf_Die& type) {
  std::optional<Dwarf_Die> found;
  EachChild(type, [&](Dwarf_Die& child) {
    if (found || dwarf_tag(&child) != DW_TAG_subprogram) return;
    const char* name = NameIn(child);
    if (name != nullptr && std::string_view(name).starts_with("operator()")) found = child;
  });
  return found;
}

// The lambdas of a function, in all its blocks, or those directly in another scope.
void CollectLambdas(Dwarf_Die& scope, int level, std::vector<Dwarf_Die>& lambdas) {
  if (level > kDeepestBlock) return;
  EachChild(scope, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
      CollectLambdas(child, level + 1, lambdas);
    } else if (IsClass(tag) && IsLambda(child)) {
      lambdas.push_back(child);
    }
  });
}

// The DIE that declares the function's parameters: that of a clone may lack some.
Dwarf_Die WithParameters(const Dwarf_Die& function) {
  Dwarf_Die best = function;
  for (Dwarf_Die& die : WithOrigins(function)) {
    bool any = false;
    EachChild(die,
              [&](Dwarf_Die& child) { any = any || dwarf_tag(&child) == DW_TAG_formal_parameter; });
    if (any) best = die;
  }
  return best;
}

// Whether a method may be called of a const object.
bool IsConst(Dwarf_Die& function) {
  bool is_const = false;
  bool first = true;
  EachChild(function, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter || !std::exchange(first, false)) return;
    if (!HasFlag(child, DW_AT_artificial)) return;
    auto type = Reference(child, DW_AT_type);
    if (type && dwarf_tag(&*type) == DW_TAG_const_type) type = Reference(*type, DW_AT_type);
    if (!type || dwarf_tag(&*type) != DW_TAG_pointer_type) return;
    type = Reference(*type, DW_AT_type);
    is_const = type && dwarf_tag(&*type) == DW_TAG_const_type;
  });
  return is_const;
}

}  // namespace

bool IsLambda(Dwarf_Die& type) {
  const char* name = NameIn(type);
  if (name != nullptr) return std::string_view(name).starts_with("<lambda");
  return CallOperator(type).has_value();
}

std::string TypeNames::TypeOf(Dwarf_Die& die, int level) { return Target(die, "", level); }

std::string TypeNames::Target(Dwarf_Die& die, const std::string& declarator, int level) {
  auto type = Reference(die, DW_AT_type);
  return type ? Written(*type, declarator, level) : "void" + declarator;
}

// `declarator` is what stands behind the type's name: "*", " const&".
std::string TypeNames::Written(Dwarf_Die& type, const std::string& declarator, int level) {
  if (level > kDeepest || declarator.size() > kLongest) return "?";
  switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type:
      return Target(type, "*" + declarator, level + 1);
    case DW_TAG_reference_type:
      return Target(type, "&" + declarator, level + 1);
    case DW_TAG_rvalue_reference_type:
      return Target(type, "&&" + declarator, level + 1);
    case DW_TAG_const_type:
      return Target(type, " const" + declarator, level + 1);
    case DW_TAG_volatile_type:
      return Target(type, " volatile" + declarator, level + 1);
    case DW_TAG_typedef: {
      // "typedef struct {…} Name" is the type's name for C++, too.
      auto target = Reference(type, DW_AT_type);
      if (target && IsClass(dwarf_tag(&*target)) && NameIn(*target) == nullptr &&
          !IsLambda(*target) && NameIn(type) != nullptr) {
        return scopes_of_(type, level + 1) + NameIn(type) + declarator;
      }
      return Target(type, declarator, level + 1);
    }
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      return Target(type, declarator, level + 1);
    case DW_TAG_subroutine_type: {
      const std::string inner = declarator.empty() ? " " : " (" + declarator + ")";
      return TypeOf(type, level + 1) + inner + ParameterList(type, level + 1);
    }
    case DW_TAG_array_type: {
      std::string text = declarator.empty() ? " " : " (" + declarator + ") ";
      EachChild(type, [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type) return;
        const uint64_t count = Number(child, DW_AT_count);
        const uint64_t last = Number(child, DW_AT_upper_bound);
        text += fmt::format("[{}]", count != 0 ? count : last + 1);
      });
      return TypeOf(type, level + 1) + text;
    }
    case DW_TAG_ptr_to_member_type: {
      auto of = Reference(type, DW_AT_containing_type);
      const std::string member = (of ? Written(*of, "", level + 1) : "?") + "::*" + declarator;
      auto target = Reference(type, DW_AT_type);
      if (target && dwarf_tag(&*target) == DW_TAG_subroutine_type) {
        return Written(*target, member, level + 1);
      }
      return TypeOf(type, level + 1) + " " + member;
    }
    case DW_TAG_base_type: {
      const char* name = NameIn(type);
      return std::string(BaseTypeName(name != nullptr ? name : "?")) + declarator;
    }
    default: {
      const std::string name = scopes_of_(type, level + 1) + ClassName(type, level + 1);
      return (name.size() <= kLongest ? name : "?") + declarator;
    }
  }
}

std::string TypeNames::ClassName(Dwarf_Die& type, int level) {
  if (level > kDeepest) return "?";
  if (IsClass(dwarf_tag(&type)) && IsLambda(type)) return LambdaName(type, level);
  const char* name = NameIn(type);
  if (name == nullptr) return "{unnamed}";
  std::string text = name;
  const std::string arguments = TemplateArguments(type, level + 1);
  if (!arguments.empty() && text.ends_with('>'))
    text.replace(text.find('<'), std::string::npos, arguments);
  return text;
}

std::string TypeNames::TemplateArguments(Dwarf_Die& die, int level) {
  std::vector<std::string> arguments;
  bool known = true;
  std::string_view automatic;  // gcc 12 gives the type of a generic lambda's "auto:1" twice
  const auto add = [&](Dwarf_Die& child, const auto& self) -> void {
    switch (dwarf_tag(&child)) {
      case DW_TAG_template_type_parameter: {
        const char* name = NameIn(child);
        if (name != nullptr && std::string_view(name).starts_with("auto:")) {
          if (name == std::exchange(automatic, name)) break;
        }
        arguments.push_back(TypeOf(child, level + 1));
        break;
      }
      case DW_TAG_template_value_parameter: {
        Dwarf_Attribute attribute;
        Dwarf_Sword value = 0;
        const auto type = Reference(child, DW_AT_type);
        if (!type || dwarf_attr(&child, DW_AT_const_value, &attribute) == nullptr ||
            dwarf_formsdata(&attribute, &value) != 0) {
          known = false;
          break;
        }
        Dwarf_Die real = WithoutTypedefs(*type);
        const std::string name = Written(real, "", level + 1);
        if (name == "bool") {
          arguments.emplace_back(value != 0 ? "true" : "false");
        } else if (dwarf_tag(&real) == DW_TAG_enumeration_type || name == "char" ||
                   name == "signed char" || name == "unsigned char") {
          arguments.push_back(fmt::format("({}){}", name, value));
        } else if (name.starts_with("unsigned")) {
          arguments.push_back(
              fmt::format("{}{}", static_cast<uint64_t>(value), LiteralSuffix(name)));
        } else {
          arguments.push_back(fmt::format("{}{}", value, LiteralSuffix(name)));
        }
        break;
      }
      case DW_TAG_GNU_template_parameter_pack:
        EachChild(child, [&](Dwarf_Die& of_pack) { self(of_pack, self); });
        break;
      case DW_TAG_GNU_template_template_param:
        known = false;
        break;
      default:
        break;
    }
  };
  if (level > kDeepest) return {};
  EachChild(die, [&](Dwarf_Die& child) { add(child, add); });
  if (!known || arguments.empty()) return {};
  std::string text = "<";
  for (const std::string& argument : arguments) {
    if (text.size() > 1) text += ", ";
    text += argument;
  }
  // As demanglers of before C++11's ">>".
  text += text.back() == '>' ? " >" : ">";
  return text.size() <= kLongest ? text : std::string();
}

std::string TypeNames::ParameterList(Dwarf_Die& function, int level) {
  std::string text;
  EachChild(function, [&](Dwarf_Die& child) {
    std::string parameter;
    switch (dwarf_tag(&child)) {
      case DW_TAG_formal_parameter: {
        if (HasFlag(child, DW_AT_artificial)) return;
        // A parameter that is const itself isn't part of the name.
        Dwarf_Die holder = child;
        auto type = Reference(child, DW_AT_type);
        while (type && (dwarf_tag(&*type) == DW_TAG_const_type ||
                        dwarf_tag(&*type) == DW_TAG_volatile_type)) {
          holder = *type;
          type = Reference(*type, DW_AT_type);
        }
        parameter = TypeOf(holder, level + 1);
        break;
      }
      case DW_TAG_GNU_formal_parameter_pack:
        EachChild(child, [&](Dwarf_Die& of_pack) {
          if (!parameter.empty()) parameter += ", ";
          parameter += TypeOf(of_pack, level + 1);
        });
        if (parameter.empty()) return;
        break;
      case DW_TAG_unspecified_parameters:
        parameter = "...";
        break;
      default:
        return;
    }
    if (!text.empty()) text += ", ";
    text += parameter;
  });
  return "(" + (text.size() <= kLongest ? text : "?") + ")";
}

std::string TypeNames::Parameters(Dwarf_Die& function, int level) {
  if (level > kDeepest) return "(?)";
  Dwarf_Die declared = WithParameters(function);
  return ParameterList(declared, level + 1) + (IsConst(declared) ? " const" : "");
}

// A generic lambda's signature has no types: each of its parameters is an "auto".
std::string TypeNames::LambdaSignature(Dwarf_Die& lambda, int level) {
  auto call = CallOperator(lambda);
  if (!call) return "()";
  const char* name = NameIn(*call);
  if (std::string_view(name) == "operator()" && TemplateArguments(*call, level + 1).empty()) {
    return ParameterList(*call, level + 1);
  }
  std::string text;
  int count = 0;
  EachChild(*call, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter || HasFlag(child, DW_AT_artificial)) return;
    text += fmt::format("{}auto:{}", text.empty() ? "" : ", ", ++count);
  });
  return "(" + text + ")";
}

// A compiler counts the lambdas of a function that have the same parameters, in the order in which
// they stand.
std::string TypeNames::LambdaName(Dwarf_Die& lambda, int level) {
  if (const auto known = lambdas_.find(lambda.addr); known != lambdas_.end()) return known->second;
  Dwarf_Die scope;
  if (dwarf_diecu(&lambda, &scope, nullptr, nullptr) == nullptr) return "{lambda}";
  for (Dwarf_Die& parent : parents_.Of(lambda)) {
    if (dwarf_tag(&parent) != DW_TAG_lexical_block) scope = parent;
  }
  std::vector<Dwarf_Die> lambdas;
  CollectLambdas(scope, 0, lambdas);
  std::stable_sort(lambdas.begin(), lambdas.end(), [](Dwarf_Die a, Dwarf_Die b) {
    const auto place = [](Dwarf_Die& die) {
      return std::tuple(Number(die, DW_AT_decl_line), Number(die, DW_AT_decl_column));
    };
    return place(a) < place(b);
  });
  std::map<std::string, int> numbers;
  for (Dwarf_Die& other : lambdas) {
    const std::string signature = LambdaSignature(other, level + 1);
    lambdas_[other.addr] = fmt::format("{{lambda{}#{}}}", signature, ++numbers[signature]);
  }
  const auto found = lambdas_.find(lambda.addr);
  return found != lambdas_.end() ? found->second : "{lambda}";
}

}  // namespace memprof
