#include "cli/commands/environment_text.h"

#include <fmt/format.h>

#include "cli/supervisor/conclusion.h"

namespace memprof {
namespace {

// In double quotes, with a backslash before each of `special`.
std::string Quoted(const std::string& value, std::string_view special) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (special.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// In systemd units a percent sign begins a specifier.
std::string SystemdWord(const std::string& assignment) {
  std::string doubled;
  for (const char c : assignment) doubled += c == '%' ? std::string("%%") : std::string(1, c);
  return Quoted(doubled, "\"\\");
}

}  // namespace

bool ParseEnvironmentFormat(std::string_view text, EnvironmentFormat& format) {
  if (text == "shell") {
    format = EnvironmentFormat::kShell;
  } else if (text == "systemd") {
    format = EnvironmentFormat::kSystemd;
  } else if (text == "docker") {
    format = EnvironmentFormat::kDocker;
  } else {
    return false;
  }
  return true;
}

std::string EnvironmentText(const std::vector<std::pair<std::string, std::string>>& variables,
                            EnvironmentFormat format) {
  std::string text;
  for (const auto& [name, value] : variables) {
    switch (format) {
      case EnvironmentFormat::kShell:
        text += fmt::format("export {}={}{}\n", name, ShellWord(value),
                            name == "LD_PRELOAD" ? "\"${LD_PRELOAD:+:$LD_PRELOAD}\"" : "");
        break;
      case EnvironmentFormat::kSystemd:
        text += fmt::format("Environment={}\n", SystemdWord(name + "=" + value));
        break;
      case EnvironmentFormat::kDocker:
        text += fmt::format("ENV {}={}\n", name, Quoted(value, "\"\\$"));
        break;
    }
  }
  return text;
}

}  // namespace memprof
