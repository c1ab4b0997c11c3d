// The output formats of the commands' pages. Each output is a whole file; the same pages give the
// same bytes.
#pragma once

#include <string>

#include "cli/manual/command_page.h"

namespace memprof {

// memprof(1), in man(7)'s macros.
std::string ManPage(const CommandPage& memprof);

// A script to source, or to put into bash-completion's folder. It needs only bash 4.4. With
// bash-completion, the arguments of `run`'s program are completed by that program's own rules.
std::string BashCompletion(const CommandPage& memprof);

// An autoloaded function, _memprof.
std::string ZshCompletion(const CommandPage& memprof);

// For fish's vendor_completions.d; fish 3.4.
std::string FishCompletion(const CommandPage& memprof);

}  // namespace memprof
