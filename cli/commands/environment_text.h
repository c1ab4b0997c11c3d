// EnvironmentText: assignments of variables in the syntax of a shell, a systemd unit or a
// Dockerfile.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memprof {

enum class EnvironmentFormat { kShell, kSystemd, kDocker };

// Reads "shell", "systemd" or "docker". Returns false and leaves `format` alone for any other text.
bool ParseEnvironmentFormat(std::string_view text, EnvironmentFormat& format);

// One line for each variable. In a shell the new LD_PRELOAD goes before the entries that it has.
std::string EnvironmentText(const std::vector<std::pair<std::string, std::string>>& variables,
                            EnvironmentFormat format);

}  // namespace memprof
