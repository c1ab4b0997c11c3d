// Any bytes as a budget file: it is refused in one line with a place, or read, and a profile is
// judged by it.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/budget/judge.h"
#include "formats/budget_file.h"

namespace {

memprof::Profile SmallProfile() {
  memprof::Profile profile;
  profile.program.program = "demo";
  profile.modules = {{"/bin/demo", ""}};
  profile.frames = {{"main", "/src/main.cc", 3, 0, 1, false},
                    {"json::Parse(char const*)", "/src/json.cc", 9, 0, 2, false}};
  profile.nodes = {{}, {0, 0}, {1, 1}};
  profile.thread_names = {"main"};
  memprof::ProfileSite site;
  site.node = 2;
  site.peak = site.leaked = site.total = {1000, 10};
  profile.sites = {site};
  profile.peak = profile.leaked = profile.total = {1000, 10};
  return profile;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto budget = memprof::ParseBudget(text, "b.toml");
  if (!budget) {
    const std::string& message = budget.error().message;
    if (!message.starts_with("b.toml:") || message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  static const memprof::Profile profile = SmallProfile();
  const auto judgement = memprof::Judge(*budget, profile, &profile, {});
  size_t limits = budget->program.limits.size();
  for (const auto& rule : budget->matches) limits += rule.limits.size();
  if (judgement.limits.size() != limits) std::abort();
  return 0;
}
