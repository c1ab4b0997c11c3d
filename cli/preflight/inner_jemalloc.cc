#include "cli/preflight/inner_jemalloc.h"

#include <gelf.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "cli/preflight/function_symbols.h"

namespace memprof {
namespace {

constexpr std::string_view kMallctl = "mallctl";

// The findings of one pass over all functions.
struct Found {
  std::vector<std::string_view> prefixes;  // of the names that end in "mallctl"
  bool has_hooks = false;                  // the function behind experimental.hooks.install
  std::string_view internal;  // the prefix of jemalloc's internal functions; empty: not known
};

Found Look(const FunctionSymbols& functions) {
  // One of these is in each version since 5.0; the first is the surest.
  constexpr std::string_view internals[] = {"hook_invoke_alloc", "prof_backtrace",
                                            "prof_tctx_create"};
  Found found;
  size_t best = std::size(internals);
  functions.ForEach([&](const FunctionSymbol& function) {
    const std::string_view name = function.name;
    if (name.ends_with(kMallctl)) {
      found.prefixes.push_back(name.substr(0, name.size() - kMallctl.size()));
    } else if (name.starts_with("experimental_hooks_install_ctl")) {
      found.has_hooks = true;
    }
    for (size_t i = 0; i < best; ++i) {
      if (!name.ends_with(internals[i])) continue;
      found.internal = name.substr(0, name.size() - internals[i].size());
      best = i;
    }
  });
  return found;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// True if the function may be on the stack between the program and a hook.
bool IsOnTheWay(const FunctionSymbol& function, std::string_view prefix,
                std::string_view internal) {
  const std::string_view name = function.name;
  if (name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("_Zdl") ||
      name.starts_with("_Zda") ||
      IsOneOf(function.file, {"jemalloc", "arena", "large", "hook", "jemalloc_cpp"})) {
    return true;
  }
  if (!internal.empty() && name.starts_with(internal)) {
    const std::string_view rest = name.substr(internal.size());
    if (rest.starts_with("hook_invoke_") || rest.starts_with("arena_ralloc") ||
        rest.starts_with("large_ralloc") || rest.ends_with("_default")) {
      return true;
    }
  }
  return name.starts_with(prefix) &&
         IsOneOf(name.substr(prefix.size()),
                 {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
                  "valloc", "pvalloc", "mallocx", "rallocx", "xallocx", "dallocx", "sdallocx",
                  "free", "free_sized", "free_aligned_sized"});
}

bool IsJemallocs(const FunctionSymbol& function, std::string_view prefix,
                 std::string_view internal) {
  return IsOnTheWay(function, prefix, internal) ||
         (!internal.empty() && function.name.starts_with(internal));
}

// A function of jemalloc's. Several names of one function are one entry; any of them identifies it.
struct Own {
  uint64_t start;
  uint64_t end;
  bool matters;  // it may be on the stack between the program and a hook
  bool last;     // last function of its run: another owner's function comes before the next one
};

// Collects and sorts only jemalloc's functions: a few hundred.
std::vector<Own> FindOwn(const FunctionSymbols& functions, std::string_view prefix,
                         std::string_view internal) {
  std::vector<Own> found;
  functions.ForEach([&](const FunctionSymbol& function) {
    if (!IsJemallocs(function, prefix, internal)) return;
    found.push_back({function.start, function.end, IsOnTheWay(function, prefix, internal), false});
  });
  std::sort(found.begin(), found.end(),
            [](const Own& a, const Own& b) { return a.start < b.start; });
  std::vector<Own> own;
  for (const Own& one : found) {
    if (own.empty() || own.back().start != one.start) {
      own.push_back(one);
      continue;
    }
    own.back().end = std::max(own.back().end, one.end);
    own.back().matters |= one.matters;
  }
  return own;
}

std::vector<CodeRange> FindCode(const FunctionSymbols& functions, std::string_view prefix,
                                std::string_view internal) {
  std::vector<Own> own = FindOwn(functions, prefix, internal);
  if (own.empty()) return {};
  own.back().last = true;
  functions.ForEach([&](const FunctionSymbol& function) {
    if (function.start < own.front().start || function.start > own.back().start) return;
    const auto after =
        std::upper_bound(own.begin(), own.end(), function.start,
                         [](uint64_t start, const Own& one) { return start < one.start; });
    Own& before = *(after - 1);
    if (before.start != function.start) before.last = true;
  });
  std::vector<CodeRange> ranges;
  CodeRange run = {};
  bool matters = false;
  for (const Own& one : own) {
    if (run.end == 0) run.start = one.start;
    run.end = std::max(run.end, one.end);
    matters |= one.matters;
    if (!one.last) continue;
    if (matters) ranges.push_back(run);
    run = {};
    matters = false;
  }
  return ranges;
}

// Doesn't fill in the code. mallctl is 0 if one of the functions is missing.
InnerJemalloc WithPrefix(const FunctionSymbols& functions, std::string_view prefix) {
  InnerJemalloc found = {};
  functions.ForEach([&](const FunctionSymbol& function) {
    if (!function.name.starts_with(prefix)) return;
    const std::string_view rest = function.name.substr(prefix.size());
    if (rest == kMallctl) found.mallctl = function.start;
    if (rest == "mallocx") found.mallocx = function.start;
    if (rest == "dallocx") found.dallocx = function.start;
  });
  return found.mallocx != 0 && found.dallocx != 0 ? found : InnerJemalloc{};
}

// Adds the largest ranges of its code.
void AddCode(std::vector<CodeRange> code, InnerJemalloc& found) {
  std::sort(code.begin(), code.end(), [](const CodeRange& a, const CodeRange& b) {
    return a.end - a.start > b.end - b.start;
  });
  for (size_t i = 0; i < std::min<size_t>(code.size(), kMaxAllocatorRanges); ++i) {
    found.code[i] = code[i];
  }
}

}  // namespace

InnerJemalloc ReadInnerJemalloc(Elf* elf) {
  const FunctionSymbols functions(elf);
  if (!functions.AnyNameEndsWith(kMallctl)) return {};
  const Found found = Look(functions);
  if (functions.complete() && !found.has_hooks) return {};
  for (const std::string_view prefix : found.prefixes) {
    InnerJemalloc jemalloc = WithPrefix(functions, prefix);
    if (jemalloc.mallctl == 0) continue;
    AddCode(FindCode(functions, prefix, found.internal), jemalloc);
    return jemalloc;
  }
  return {};
}

std::vector<CodeRange> JemallocCode(Elf* elf) {
  const FunctionSymbols functions(elf);
  if (!functions.AnyNameEndsWith(kMallctl)) return {};
  const Found found = Look(functions);
  std::vector<CodeRange> ranges;
  for (const std::string_view prefix : found.prefixes) {
    if (WithPrefix(functions, prefix).mallctl == 0) continue;
    functions.ForEach([&](const FunctionSymbol& function) {
      if (IsJemallocs(function, prefix, found.internal) ||
          IsOneOf(function.file, {"prof", "prof_sys", "prof_data"})) {
        ranges.push_back({function.start, function.end});
      }
    });
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.start < b.start; });
  std::vector<CodeRange> joined;
  for (const CodeRange& range : ranges) {
    if (!joined.empty() && range.start <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

std::string OptionsVariable(Elf* elf) {
  constexpr std::string_view name("MALLOC_CONF\0", 12);
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS ||
        (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != SHF_ALLOC) {
      continue;
    }
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const std::string_view text(static_cast<const char*>(data->d_buf), data->d_size);
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      size_t start = at;
      while (start > 0 && (std::isupper(static_cast<unsigned char>(text[start - 1])) != 0 ||
                           text[start - 1] == '_')) {
        --start;
      }
      if (start > 0 && text[start - 1] == '\0') {
        return std::string(text.substr(start, at - start + name.size() - 1));
      }
    }
  }
  return {};
}

}  // namespace memprof
