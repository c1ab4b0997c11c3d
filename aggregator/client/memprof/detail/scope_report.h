/* The stacks behind a scope's figure: the heaviest as text, and the part of the figure that is not
 * the program's own. The memprof command names them, with files and lines; if it can't be run, the
 * loader's symbols do.
 *
 * Thread safety: any thread. Memory: allocates; stop counting before, if that must not count. */
#ifndef MEMPROF_DETAIL_SCOPE_REPORT_H_
#define MEMPROF_DETAIL_SCOPE_REPORT_H_

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "memprof/detail/byte_size.h"
#include "memprof/detail/loaded_modules.h"
#include "memprof/detail/memprof_command.h"
#include "memprof/memprof.h"

namespace memprof {
namespace detail {

struct ScopeReport {
  std::string text; /* lines, each with its end */
  /* The part of the figure that the library that runs the tests allocated for itself. */
  int64_t excepted_bytes = 0;
  int64_t excepted_blocks = 0;
  /* The part of the leaks that libc, libstdc++ or the loader keeps by design. */
  int64_t kept_bytes = 0;
  int64_t kept_blocks = 0;
  /* MEMPROF_BY_GROWTH: the growth of the places that grew, without these two parts. A place is the
   * function that a report names, so a block that replaces another one of its function is no growth,
   * whoever called. */
  int64_t leaked_bytes = 0;
  int64_t leaked_blocks = 0;
};

struct ScopeQuestion {
  memprof_order order;
  const char* except;         /* the namespace of the library that runs the tests */
  const char* except_library; /* and the library's name, "libgtest" */
  const char* thread;         /* only stacks of threads of this name; a null pointer: of all */
};

struct ScopeStack {
  std::vector<uintptr_t> frames;
  int64_t bytes, blocks;
};

/* The heaviest first. */
inline std::vector<ScopeStack> StacksOf(memprof_scope scope, const ScopeQuestion& question) {
  struct Context {
    std::vector<ScopeStack> stacks;
    const char* thread;
  } context = {{}, question.thread};
  const size_t most = 20000;        /* that many are named within a second or two */
  constexpr uint32_t deepest = 64;  /* frames outside of these are the test's own callers */
  static_assert(deepest >= 32, ""); /* core/profile/runtime_kept.h looks that far */
  memprof_scope_stacks(
      scope, question.order, most,
      [](const memprof_stack* stack, void* to) {
        auto& into = *static_cast<Context*>(to);
        if (into.thread == nullptr || std::string(into.thread) == stack->thread_name) {
          const uint32_t count = std::min(stack->frame_count, +deepest);
          into.stacks.push_back(
              {{stack->frames, stack->frames + count}, stack->bytes, stack->blocks});
        }
        return 0;
      },
      &context);
  return context.stacks;
}

inline std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    char escaped[8];
    if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      quoted += escaped;
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

/* As cli/scope_stacks/scope_stacks_input.h describes it. */
inline std::string QuestionJson(const std::vector<ScopeStack>& stacks,
                                const std::vector<LoadedModule>& modules,
                                const ScopeQuestion& question) {
  const bool by_blocks = question.order == MEMPROF_BY_ALLOCATIONS;
  std::string json = "{\"schema\":1,\"unit\":" + Quoted(by_blocks ? "blocks" : "bytes") +
                     (question.order == MEMPROF_BY_GROWTH ? ",\"net\":true" : "") +
                     ",\"leaks\":" + (question.order == MEMPROF_BY_GROWTH ? "true" : "false") +
                     ",\"except\":" + Quoted(question.except) +
                     ",\"except_library\":" + Quoted(question.except_library) + ",\"modules\":[";
  for (size_t i = 0; i < modules.size(); ++i) {
    json += (i == 0 ? "" : ",");
    json += "{\"path\":" + Quoted(modules[i].path) +
            ",\"build_id\":" + Quoted(modules[i].build_id) + "}";
  }
  json += "],\"stacks\":[";
  for (size_t i = 0; i < stacks.size(); ++i) {
    json += (i == 0 ? "" : ",");
    json += "{\"bytes\":" + std::to_string(stacks[i].bytes) +
            ",\"blocks\":" + std::to_string(stacks[i].blocks) + ",\"frames\":[";
    for (size_t k = 0; k < stacks[i].frames.size(); ++k) {
      const uintptr_t address = stacks[i].frames[k];
      const int module = ModuleOf(modules, address);
      const uintptr_t bias = module < 0 ? 0 : modules[static_cast<size_t>(module)].bias;
      json += (k == 0 ? "[" : ",[") + std::to_string(module) + "," +
              std::to_string(address - bias) + "]";
    }
    json += "]}";
  }
  return json + "]}\n";
}

/* "Parse(char const*)", or "test+0x12" where the loader knows no symbol. */
inline std::string LoaderName(uintptr_t return_address, std::string* module) {
  const uintptr_t call = return_address - 1;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(call), &info) == 0) return "?";
  const std::string path = info.dli_fname;
  *module = path.substr(path.rfind('/') + 1);
  if (info.dli_sname == nullptr) {
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%zx",
                  static_cast<size_t>(call - reinterpret_cast<uintptr_t>(info.dli_fbase)));
    return *module + offset;
  }
  int status = 0;
  char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  const std::string name = readable != nullptr ? readable : info.dli_sname;
  std::free(readable);
  return name;
}

/* The functions of a stack that aren't plumbing, `most` at most. */
inline std::vector<std::string> LoaderNames(const ScopeStack& stack, size_t most) {
  std::vector<std::string> names;
  for (const uintptr_t address : stack.frames) {
    std::string module;
    const std::string name = LoaderName(address, &module);
    const bool plumbing = module.rfind("libmemprof_", 0) == 0 || module.rfind("libc.", 0) == 0 ||
                          module.rfind("libstdc++", 0) == 0;
    if (plumbing || name.rfind("std::", 0) == 0) continue;
    if (names.size() == most) break;
    names.push_back(name);
  }
  return names;
}

/* Sums by the innermost function that the loader can name. */
inline void NetByLoader(const std::vector<ScopeStack>& stacks, ScopeReport* report) {
  std::map<std::vector<std::string>, std::pair<int64_t, int64_t>> places;
  for (const ScopeStack& stack : stacks) {
    auto& place = places[LoaderNames(stack, 1)];
    place.first += stack.bytes;
    place.second += stack.blocks;
  }
  for (const auto& named : places) {
    const std::pair<int64_t, int64_t>& net = named.second;
    if (net.first < 0 || (net.first == 0 && net.second <= 0)) continue;
    report->leaked_bytes += net.first;
    report->leaked_blocks += std::max<int64_t>(net.second, 0);
  }
}

inline std::string NamedByLoader(const std::vector<ScopeStack>& stacks) {
  std::string text =
      "  (no file and line: the memprof command could not be run; exported symbols only)\n";
  for (size_t i = 0; i < stacks.size() && i < 3; ++i) {
    text +=
        "  " + FormatBytes(static_cast<uint64_t>(std::max<int64_t>(stacks[i].bytes, 0))) +
        (stacks[i].blocks > 0 ? " in " + Plural(static_cast<uint64_t>(stacks[i].blocks), "block")
                              : std::string()) +
        "\n";
    for (const std::string& name : LoaderNames(stacks[i], 8)) text += "    " + name + "\n";
  }
  if (stacks.size() > 3) {
    text += "  and " + Plural(stacks.size() - 3, "other stack") + "\n";
  }
  return text;
}

/* Pre: the scope has ended. */
inline ScopeReport ReportScope(memprof_scope scope, const ScopeQuestion& question) {
  ScopeReport report;
  const std::vector<ScopeStack> stacks = StacksOf(scope, question);
  if (stacks.empty()) return report;
  std::string answer;
  const bool net = question.order == MEMPROF_BY_GROWTH;
  long long sums[6] = {0, 0, 0, 0, 0, 0};
  if (RunMemprof("scope-stacks", QuestionJson(stacks, LoadedModules(), question), &answer) &&
      std::sscanf(answer.c_str(), "%lld %lld %lld %lld %lld %lld", &sums[0], &sums[1], &sums[2],
                  &sums[3], &sums[4], &sums[5]) >= (net ? 6 : 4)) {
    report.text = answer.substr(answer.find('\n') + 1);
    report.excepted_bytes = sums[0];
    report.excepted_blocks = sums[1];
    report.kept_bytes = sums[2];
    report.kept_blocks = sums[3];
    report.leaked_bytes = sums[4];
    report.leaked_blocks = sums[5];
  } else {
    if (net) NetByLoader(stacks, &report);
    report.text = NamedByLoader(stacks);
  }
  return report;
}

} /* namespace detail */
} /* namespace memprof */

#endif /* MEMPROF_DETAIL_SCOPE_REPORT_H_ */
