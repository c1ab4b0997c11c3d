// SymbolKey: names a frame the same in every build of a program, so that two captures can be
// compared. It consists of the function's name and the module's, without address and line.
//
//   function   without the clone suffixes that a compiler numbers anew ("f.part.0", "f [clone
//              .constprop.1]"). Code without a name is kNoSymbol, whatever its address.
//   module     the base name without a library's version ("libx.so.1.2": "libx.so"). The program's
//              own executable is kProgramModule: two builds may lie in files of different names.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "core/profile/profile.h"

namespace memprof {

inline constexpr char kNoSymbol[] = "[no symbol]";
inline constexpr char kProgramModule[] = "[program]";

struct SymbolKey {
  std::string function, module;
  auto operator<=>(const SymbolKey&) const = default;
};

SymbolKey SymbolKeyOf(const Profile& profile, const ProfileFrame& frame);

// The key of a module, by its path, in a profile of `program`; empty for no path.
std::string ModuleKey(std::string_view path, std::string_view program);

// The key of a function, as the symbolizer names it, in the module of that path.
std::string FunctionKey(std::string_view function, std::string_view module_path);

}  // namespace memprof
