// An option for a time: "0.5" and "90" are seconds; "250ms", "10m", "1h30m" (core/units.h).
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "cli/basics/arguments.h"
#include "core/units.h"

namespace memprof {

// `time` holds the default, and must live as long as the command.
inline Option AddTimeOption(Arguments& arguments, const std::string& name,
                            std::chrono::milliseconds& time, const std::string& description) {
  const double seconds = std::chrono::duration<double>(time).count();
  return arguments
      .AddTaken(
          name,
          [&time](const std::string& text) -> Result<void> {
            const auto parsed = ParseDuration(text);
            if (!parsed) return tl::unexpected<Error>(parsed.error());
            time = *parsed;
            return {};
          },
          description)
      .TypeName("TIME")
      .ShowDefault(fmt::format("{}", seconds));
}

}  // namespace memprof
