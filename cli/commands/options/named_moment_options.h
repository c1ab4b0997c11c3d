// The options of run that control when named moments of a program are taken.
//
// Failure: kUsage, one line.
#pragma once

#include <chrono>
#include <string>

#include "cli/basics/arguments.h"
#include "cli/supervisor/run_named_moments.h"
#include "core/result.h"

namespace memprof {

struct NamedMomentFlags {  // as the user wrote them; empty: not given
  std::string every;
  std::string signal;
  std::string at_rss;
  std::string files;
};

void AddNamedMomentOptions(Arguments& arguments, NamedMomentFlags& flags);

// The names of files stay as they were given: they are expanded later. Does not set the program.
Result<NamedMomentOptions> ReadNamedMomentFlags(const NamedMomentFlags& flags);

// A duration (core/units.h) of at least `least`.
Result<std::chrono::milliseconds> ReadPeriod(const std::string& option, const std::string& text,
                                             std::chrono::milliseconds least);

// "USR1", "SIGUSR1", "10". 0 for no such signal.
int SignalNumber(const std::string& text);

}  // namespace memprof
