// The script walks the words before the cursor once. An option with a value consumes the next word,
// a command's name goes a level down, and where a program begins its own rules take over.

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "cli/manual/formats.h"
#include "cli/manual/shell_text.h"

namespace memprof {
namespace {

constexpr std::string_view kBashHead =
    R"(# Completions of memprof for bash, written by `memprof manual bash`.

# What the command at path $1 has: its commands and its options.
_memprof_command() {
  case $1 in
)";

constexpr std::string_view kValues =
    R"(  esac
}

# What $1 takes, a path with an option, or with the place of an argument: file, command, line (a
# program with its arguments), words and which, any; nothing for what takes nothing.
_memprof_value() {
  kind=
  case $1 in
)";

constexpr std::string_view kTail =
    R"(  esac
}

# Completes the program that begins at word $1, and its arguments.
_memprof_line() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD > $1)) || [[ $current == */* ]]; then
    compopt -o default
  else
    mapfile -t COMPREPLY < <(compgen -c -- "$current" | sort -u)
  fi
}

_memprof() {
  local path=memprof commands= options= kind= option= arguments=0 past_options= i word
  local current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  _memprof_command "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $option ]]; then
      # --option=word is three words here.
      [[ $word == = ]] || option=
    elif [[ -z $past_options && $word == -- ]]; then
      past_options=1
    elif [[ -z $past_options && $word == -* ]]; then
      _memprof_value "$path $word"
      [[ -z $kind ]] || option=$word
    elif [[ " $commands " == *" $word "* ]]; then
      path+=" $word"
      _memprof_command "$path"
    else
      _memprof_value "$path #$arguments"
      if [[ $kind == line ]]; then
        _memprof_line "$i"
        return
      fi
      ((++arguments))
    fi
  done

  if [[ -n $option ]]; then
    [[ $current != = ]] || current=
    _memprof_value "$path $option"
  elif [[ -z $past_options && $current == -* ]]; then
    kind="words $options"
  elif [[ -n $commands ]]; then
    kind="words $commands"
  else
    _memprof_value "$path #$arguments"
  fi
  case $kind in
    file) compopt -o default ;;
    line | command) _memprof_line "$COMP_CWORD" ;;
    words*) mapfile -t COMPREPLY < <(compgen -W "${kind#words }" -- "$current") ;;
  esac
}

complete -F _memprof memprof
)";

std::string KindText(const OptionPage& option) {
  switch (option.kind) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kWords:
      return "words " + Joined(option.words, " ");
    case ValueKind::kCommand:
      return "command";
    case ValueKind::kCommandLine:
      return "line";
    case ValueKind::kOpaque:
      return "any";
  }
  return "";
}

void WriteBashCommand(std::string& text, const CommandPage& command) {
  std::vector<std::string> commands;
  for (const CommandPage& below : command.commands) commands.push_back(below.name);
  std::vector<std::string> options;
  for (const OptionPage& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
  }
  fmt::format_to(std::back_inserter(text),
                 "    {})\n      commands={}\n      options={}\n      ;;\n",
                 ShellQuoted(command.path), ShellQuoted(Joined(commands, " ")),
                 ShellQuoted(Joined(options, " ")));
}

void WriteValues(std::string& text, const CommandPage& command) {
  for (const OptionPage& option : command.options) {
    if (option.kind == ValueKind::kNone) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(ShellQuoted(command.path + " " + name));
    }
    fmt::format_to(std::back_inserter(text), "    {}) kind={} ;;\n", Joined(patterns, " | "),
                   ShellQuoted(KindText(option)));
  }
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const OptionPage& argument = command.arguments[i];
    const std::string pattern = argument.repeated
                                    ? ShellQuoted(command.path + " #") + "*"
                                    : ShellQuoted(fmt::format("{} #{}", command.path, i));
    fmt::format_to(std::back_inserter(text), "    {}) kind={} ;;\n", pattern,
                   ShellQuoted(KindText(argument)));
  }
}

}  // namespace

std::string BashCompletion(const CommandPage& memprof) {
  const std::vector<const CommandPage*> commands = AllCommands(memprof);
  std::string text(kBashHead);
  for (const CommandPage* command : commands) WriteBashCommand(text, *command);
  text += kValues;
  for (const CommandPage* command : commands) WriteValues(text, *command);
  text += kTail;
  return text;
}

}  // namespace memprof
