// What the symbolizer lacked, as the last lines of a report. Modules that lack the same are one
// note: "liba.so, libb.so: no debug info, …".
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "cli/reports/terminal.h"
#include "core/profile.h"

namespace memprof {

// Each note begins with `head`; nothing if nothing lacked, else an empty line before them.
std::string SymbolNotes(std::string_view head, const Profile& profile, const TextStyle& style);

}  // namespace memprof
