// One function for each command; each calls zsh's _arguments.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "cli/manual/formats.h"
#include "cli/manual/shell_text.h"

namespace memprof {
namespace {

// _memprof_budget_init for "memprof budget init".
std::string FunctionOf(const CommandPage& command) {
  std::string name = "_" + command.path;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

// Escapes colons, brackets and backslashes, which mean something to _arguments.
std::string ZshEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ActionOf(const OptionPage& option) {
  switch (option.kind) {
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kWords:
      return "(" + Joined(option.words, " ") + ")";
    case ValueKind::kCommand:
    case ValueKind::kCommandLine:
      return "{ _command_names -e || _files }";
    case ValueKind::kNone:
    case ValueKind::kOpaque:
      return " ";
  }
  return " ";
}

// '(-o --output)'{-o+,--output=}'[description]:FILE:_files'
std::string OptionSpec(const OptionPage& option) {
  const bool has_value = option.kind != ValueKind::kNone;
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(name + (!has_value ? "" : name.substr(0, 2) == "--" ? "=" : "+"));
  }
  std::vector<std::string> instead = option.names;
  instead.insert(instead.end(), option.excludes.begin(), option.excludes.end());
  std::string text = "[" + ZshEscaped(option.description) + "]";
  if (has_value) text += ":" + ZshEscaped(option.value) + ":" + ActionOf(option);
  const std::string all = names.size() == 1 ? names[0] : "{" + Joined(names, ",") + "}";
  return ShellQuoted(option.repeated ? "*" : "(" + Joined(instead, " ") + ")") + all +
         ShellQuoted(text);
}

void WriteArguments(std::string& text, const CommandPage& command) {
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const OptionPage& argument = command.arguments[i];
    const std::string name = ZshEscaped(argument.names[0]) + ":" + ActionOf(argument);
    if (argument.kind == ValueKind::kCommandLine) {
      // From here on words and options are the program's.
      text += " \\\n    " + ShellQuoted("(-)1:" + name);
      text += " \\\n    '*::arguments:_normal'";
    } else {
      text +=
          " \\\n    " + ShellQuoted((argument.repeated ? "*:" : fmt::format("{}:", i + 1)) + name);
    }
  }
}

void WriteZshCommand(std::string& text, const CommandPage& command) {
  auto out = std::back_inserter(text);
  const std::string function = FunctionOf(command);
  fmt::format_to(out, "\n{}() {{\n", function);
  if (!command.commands.empty()) {
    text += "  local curcontext=$curcontext state state_descr line\n  typeset -A opt_args\n";
  }
  text += "  _arguments -s -S";
  if (!command.commands.empty()) text += " -C";
  for (const OptionPage& option : command.options) text += " \\\n    " + OptionSpec(option);
  WriteArguments(text, command);
  if (command.commands.empty()) {
    text += "\n}\n";
    return;
  }
  text += " \\\n    '1:command:->command' \\\n    '*::argument:->argument' && return\n";
  text += "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CommandPage& below : command.commands) {
    fmt::format_to(out, "        {}\n", ShellQuoted(below.name + ":" + below.summary));
  }
  text += "      )\n      _describe -t commands command commands ;;\n";
  text += "    argument)\n      case $words[1] in\n";
  for (const CommandPage& below : command.commands) {
    fmt::format_to(out, "        {}) {} ;;\n", below.name, FunctionOf(below));
  }
  text += "      esac ;;\n  esac\n}\n";
}

}  // namespace

std::string ZshCompletion(const CommandPage& memprof) {
  std::string text =
      "#compdef memprof\n# Completions of memprof for zsh, written by `memprof manual zsh`.\n";
  for (const CommandPage* command : AllCommands(memprof)) WriteZshCommand(text, *command);
  // When autoloaded, the file is the function's body; when sourced, it registers the function.
  text +=
      "\nif [[ $funcstack[1] == _memprof ]]; then\n  _memprof \"$@\"\nelse\n  compdef _memprof "
      "memprof\nfi\n";
  return text;
}

}  // namespace memprof
