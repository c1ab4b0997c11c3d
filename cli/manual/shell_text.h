// Text for the shells' scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/manual/command_page.h"

namespace memprof {

// One word of a shell, whatever is in it: 'it'\''s'.
std::string ShellQuoted(std::string_view text);

std::string Joined(const std::vector<std::string>& words, std::string_view separator);

// All commands that do something by themselves or hold others, memprof first, each before its own.
std::vector<const CommandPage*> AllCommands(const CommandPage& memprof);

}  // namespace memprof
