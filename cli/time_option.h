// An option that takes a time: "0.5" and "90" are seconds; "250ms", "10m", "1h30m" (core/units.h).
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "cli/command.h"
#include "core/units.h"

namespace memprof {

// `time` has the default, and must live as long as `app`.
inline CLI::Option* AddTimeOption(CLI::App& app, const std::string& name,
                                  std::chrono::milliseconds& time, const std::string& description) {
  const double seconds = std::chrono::duration<double>(time).count();
  return app
      .add_option_function<std::string>(
          name,
          [&time, name](const std::string& text) {
            const auto parsed = ParseDuration(text);
            if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
            time = *parsed;
          },
          description)
      ->type_name("TIME")
      ->default_str(fmt::format("{}", seconds));
}

}  // namespace memprof
