// One line for each option, with the condition that the words before the cursor lead to its
// command.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "cli/manual/formats.h"
#include "cli/manual/shell_text.h"

namespace memprof {
namespace {

constexpr std::string_view kFishHead =
    R"(# Completions of memprof for fish, written by `memprof manual fish`.

# Prints the path of the command that the words before the cursor lead to, and how many arguments it
# has by then; nothing if they are a program's.
function __memprof_state
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -l path memprof
    set -l arguments 0
    set -l value 0
    set -l past_options 0
    for token in $tokens
        if test $value -eq 1
            set value 0
            continue
        end
        if test $past_options -eq 0
            switch $token
                case --
                    set past_options 1
                    continue
                case '-*'
                    contains -- "$path $token" $__memprof_values; and set value 1
                    continue
            end
        end
        if contains -- "$path $token" $__memprof_commands
            set path "$path $token"
        else if contains -- $path $__memprof_lines
            return
        else
            set arguments (math $arguments + 1)
        end
    end
    echo $path
    echo $arguments
end

# Whether what is completed belongs to the command at $path; of its arguments the one at $first, or
# any from there on.
function __memprof_at --argument-names path first last
    set -l state (__memprof_state)
    test "$state[1]" = "$path"; or return
    test -n "$first"; or return 0
    test $state[2] -ge $first; or return
    test -z "$last"; or test $state[2] -le $last
end

# Whether what is completed is a program's: its name, or what follows it.
function __memprof_in_line --argument-names path
    set -l state (__memprof_state)
    test -z "$state"; or test "$state[1]" = "$path"
end

)";

// fish's single quotes protect everything except single quotes and backslashes.
std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::vector<std::string> OptionsWithValues(const CommandPage& command) {
  std::vector<std::string> names;
  for (const OptionPage& option : command.options) {
    if (option.kind == ValueKind::kNone) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

void WriteLists(std::string& text, const CommandPage& memprof) {
  std::string commands, values, lines;
  for (const CommandPage* command : AllCommands(memprof)) {
    if (command != &memprof) commands += " " + FishQuoted(command->path);
    for (const std::string& name : OptionsWithValues(*command)) {
      values += " " + FishQuoted(command->path + " " + name);
    }
    for (const OptionPage& argument : command->arguments) {
      if (argument.kind == ValueKind::kCommandLine) lines += " " + FishQuoted(command->path);
    }
  }
  fmt::format_to(std::back_inserter(text),
                 "set -g __memprof_commands{}\nset -g __memprof_values{}\nset -g "
                 "__memprof_lines{}\n\ncomplete -c memprof -f\n",
                 commands, values, lines);
}

std::string ValueOf(const OptionPage& option) {
  switch (option.kind) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kFile:
      return " -F";
    case ValueKind::kWords:
      return " -f -a " + FishQuoted(Joined(option.words, " "));
    case ValueKind::kCommand:
    case ValueKind::kCommandLine:
      return " -F -a '(__fish_complete_command)'";
    case ValueKind::kOpaque:
      return " -f";
  }
  return "";
}

void WriteFishCommand(std::string& text, const CommandPage& command) {
  auto out = std::back_inserter(text);
  const auto at = [&](const std::string& arguments) {
    return fmt::format("complete -c memprof -n {}",
                       FishQuoted(fmt::format("__memprof_at \"{}\"{}", command.path, arguments)));
  };
  for (const CommandPage& below : command.commands) {
    fmt::format_to(out, "{} -a {} -d {}\n", at(""), below.name, FishQuoted(below.summary));
  }
  for (const OptionPage& option : command.options) {
    text += at("");
    for (const std::string& name : option.names) {
      text += name.substr(0, 2) == "--" ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.kind != ValueKind::kNone) text += " -r";
    fmt::format_to(out, "{} -d {}\n", ValueOf(option), FishQuoted(option.description));
  }
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const OptionPage& argument = command.arguments[i];
    if (argument.kind == ValueKind::kCommandLine) {
      // From the program on, fish's own rules apply.
      const std::vector<std::string> options = OptionsWithValues(command);
      const auto words = 1 + std::count(command.path.begin(), command.path.end(), ' ');
      fmt::format_to(out, "complete -c memprof -n {} -a {}\n",
                     FishQuoted(fmt::format("__memprof_in_line \"{}\"", command.path)),
                     FishQuoted(fmt::format("(__fish_complete_subcommand --fcs-skip={} {})", words,
                                            Joined(options, " "))));
      continue;
    }
    fmt::format_to(out, "{}{}\n",
                   at(fmt::format(" {}{}", i, argument.repeated ? "" : fmt::format(" {}", i))),
                   ValueOf(argument));
  }
}

}  // namespace

std::string FishCompletion(const CommandPage& memprof) {
  std::string text(kFishHead);
  WriteLists(text, memprof);
  for (const CommandPage* command : AllCommands(memprof)) WriteFishCommand(text, *command);
  return text;
}

}  // namespace memprof
