#include "core/profile/symbol_key.h"

#include <algorithm>

#include "core/base_name.h"

namespace memprof {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// ".part.0", ".constprop.1", ".isra.0.cold", ".lto_priv.2", ".llvm.123": the name is cut at the
// first of them. A dot of the program's own ("vtable.init") stays.
std::string_view WithoutCloneSuffix(std::string_view name) {
  constexpr std::string_view kMarks[] = {".part.",     ".constprop.", ".isra.",
                                         ".lto_priv.", ".llvm.",      ".cold"};
  size_t end = name.size();
  for (const std::string_view mark : kMarks) {
    const size_t at = name.find(mark);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view rest = name.substr(at + mark.size());
    const std::string_view number = rest.substr(0, rest.find('.'));
    const bool numbered = mark.back() == '.';
    if (numbered ? IsNumber(number) : rest.empty() || rest.front() == '.') end = std::min(end, at);
  }
  return name.substr(0, end);
}

}  // namespace

std::string FunctionKey(std::string_view function, std::string_view module_path) {
  // The symbolizer's name for an address without a symbol.
  const std::string_view module = BaseName(module_path);
  if (!module.empty() && function.starts_with(module) &&
      function.substr(module.size()).starts_with("+0x")) {
    return kNoSymbol;
  }
  if (module.empty() && function.starts_with("0x")) return kNoSymbol;
  // Demanglers write it once for each suffix.
  const size_t clone = function.find(" [clone .");
  if (clone != std::string_view::npos && clone != 0) return std::string(function.substr(0, clone));
  return std::string(WithoutCloneSuffix(function));
}

std::string ModuleKey(std::string_view path, std::string_view program) {
  const std::string_view name = BaseName(path);
  if (name.empty()) return {};
  if (name == BaseName(program)) return kProgramModule;
  const size_t version = name.find(".so.");
  return std::string(version == std::string_view::npos ? name : name.substr(0, version + 3));
}

SymbolKey SymbolKeyOf(const Profile& profile, const ProfileFrame& frame) {
  const std::string_view path = frame.module < profile.modules.size()
                                    ? std::string_view(profile.modules[frame.module].path)
                                    : std::string_view();
  return {FunctionKey(frame.function, path), ModuleKey(path, profile.program.program)};
}

}  // namespace memprof
