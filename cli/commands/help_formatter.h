// HelpFormatter: formats CLI11's help in 80 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

#include "cli/terminal/terminal.h"

namespace memprof {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return Description(option->get_description());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream text;
    CLI::detail::format_help(text, command->get_display_name(true),
                             Description(command->get_description()), column_width_);
    return text.str();
  }

  // A positional for a whole command line has its words as its type.
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    if (type.empty() || type[0] != '[') return Formatter::make_option_usage(option);
    return make_option_name(option, true) + " " + type;
  }

 private:
  static constexpr size_t kColumns = 80;

  // CLI11 indents the text after a line break.
  std::string Description(const std::string& text) const {
    std::string lines = Wrapped(text, 0, kColumns - column_width_);
    lines.pop_back();
    return lines;
  }
};

}  // namespace memprof
