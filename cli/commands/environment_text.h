// EnvironmentText: variables as a shell, a unit of systemd or a Dockerfile sets them.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memprof {

enum class EnvironmentFormat { kShell, kSystemd, kDocker };

// "shell", "systemd", "docker"; `format` is left as it is for another text, which gives false.
bool ParseEnvironmentFormat(std::string_view text, EnvironmentFormat& format);

// One line a variable. In a shell LD_PRELOAD goes before what it has already.
std::string EnvironmentText(const std::vector<std::pair<std::string, std::string>>& variables,
                            EnvironmentFormat format);

}  // namespace memprof
