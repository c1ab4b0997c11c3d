// Text for the shells' scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/manual/command_page.h"

namespace memprof {

// Quotes any text as one word of a shell: 'it'\''s'.
std::string ShellQuoted(std::string_view text);

std::string Joined(const std::vector<std::string>& words, std::string_view separator);

// All commands that run by themselves or have subcommands; memprof first, each before its
// subcommands.
std::vector<const CommandPage*> AllCommands(const CommandPage& memprof);

}  // namespace memprof
