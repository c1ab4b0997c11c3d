#include <fmt/format.h>

#include <iterator>
#include <string>

#include "cli/manual/formats.h"
#include "cli/manual/shell_text.h"

namespace memprof {
namespace {

// Text that belongs to no option, in man(7)'s macros; a backslash is an escape.
constexpr std::string_view kDescription = R"(.SH DESCRIPTION
.B memprof run
runs a dynamically linked program under a preloaded tracker, which counts in the process, and leaves
a capture of kilobytes: for every place that allocated, what was live when the heap was highest, what
was never freed, and how much was allocated in all. The capture is complete however the program ends.
The other commands report on captures.
.PP
Rows sum to totals in every report, and what could not be attributed has a row with a name. Sizes are
those that the program asked for.
.PP
.IR CAPTURE @10m,
.IR CAPTURE @end
and
.IR CAPTURE @NAME
are what was live at the nearest moment kept, or at a named snapshot. Several captures are merged as
they are read.
)";

constexpr std::string_view kAfterCommands = R"(.SH EXIT STATUS
Of
.B memprof run
the program's own, or 128+N if signal N ended it; 125, 126 and 127 are memprof's own failures, as with
.BR env (1)
and
.BR timeout (1),
and 1 is over a budget. The others have:
.TP
.B 0
Fine.
.TP
.B 1
Over a budget, or the system refused, as with a full disk.
.TP
.B 2
The command line.
.TP
.B 3
A capture that can't be read.
.SH ENVIRONMENT
.TP
.B DEBUGINFOD_URLS
Servers that debug info is asked of where this machine has none.
)";

constexpr std::string_view kSeeAlso = R"(.SH SEE ALSO
.BR heaptrack (1),
.BR valgrind (1),
.BR ms_print (1),
.BR debuginfod_find (1)
)";

// Escapes our text for roff, which would replace these characters typographically.
std::string RoffEscaped(std::string_view text) {
  std::string escaped;
  if (text.substr(0, 1) == ".") escaped = "\\&";  // a leading dot would begin a request
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Bold(std::string_view text) { return "\\fB" + RoffEscaped(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + RoffEscaped(text) + "\\fR"; }

// CLI11's type name may end in dots: "CAPTURE...".
std::string WithoutDots(std::string_view value) {
  if (value.size() > 3 && value.substr(value.size() - 3) == "...") value.remove_suffix(3);
  return std::string(value);
}

std::string ValueText(const OptionPage& option) {
  if (option.kind == ValueKind::kWords) {
    std::string text;
    for (const std::string& word : option.words) text += (text.empty() ? "" : "|") + Bold(word);
    return text;
  }
  return Italic(WithoutDots(option.value));
}

std::string Sentence(const OptionPage& option) {
  std::string text = RoffEscaped(option.description);
  if (!text.empty() && text.back() != '.') text += '.';
  if (!option.fallback.empty()) text += " The default is " + Bold(option.fallback) + ".";
  for (const std::string& other : option.needs) text += " Only with " + Bold(other) + ".";
  if (!option.excludes.empty()) {
    std::string others;
    for (const std::string& other : option.excludes) {
      others += (others.empty() ? "" : " or ") + Bold(other);
    }
    text += " Not with " + others + ".";
  }
  if (option.required && option.names[0][0] == '-') text += " It must be given.";
  return text;
}

void WriteOption(std::string& text, const OptionPage& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + Bold(name);
  if (option.kind != ValueKind::kNone) names += " " + ValueText(option);
  fmt::format_to(std::back_inserter(text), ".TP\n{}\n{}\n", names, Sentence(option));
}

// memprof budget init [OPTIONS] CAPTURE
std::string Usage(const CommandPage& command) {
  std::string text = Bold(command.path);
  if (!command.options.empty()) text += " [" + Italic("OPTIONS") + "]";
  if (!command.commands.empty()) text += " " + Italic("COMMAND");
  for (const OptionPage& argument : command.arguments) {
    std::string name = Italic(argument.names[0]);
    if (argument.kind == ValueKind::kCommandLine) {
      text += " [" + Bold("--") + "] " + name + " " + RoffEscaped(argument.value);
      continue;
    }
    if (argument.repeated) name += "...";
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text;
}

void WriteManCommand(std::string& text, const CommandPage& command) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, ".SS {}\n{}.\n.PP\n{}\n", RoffEscaped(command.path),
                 RoffEscaped(command.summary), Usage(command));
  for (const OptionPage& argument : command.arguments) {
    fmt::format_to(out, ".TP\n{}\n{}\n",
                   Italic(argument.names[0]) +
                       (argument.kind == ValueKind::kWords ? ": " + ValueText(argument) : ""),
                   Sentence(argument));
  }
  for (const OptionPage& option : command.options) {
    if (option.names.back() != "--help") WriteOption(text, option);
  }
  if (command.examples.empty()) return;
  text += ".PP\n.EX\n";
  for (const std::string& example : command.examples) text += RoffEscaped(example) + "\n";
  text += ".EE\n";
}

}  // namespace

std::string ManPage(const CommandPage& memprof) {
  std::string text =
      ".\\\" Written by `memprof manual man`.\n.TH MEMPROF 1 \"\" \"memprof " MEMPROF_VERSION
      "\" \"User Commands\"\n.SH NAME\n";
  // "memprof: what it is"
  const size_t colon = memprof.summary.find(": ");
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{} \\- {}\n.SH SYNOPSIS\n", RoffEscaped(memprof.name),
                 RoffEscaped(memprof.summary.substr(colon == std::string::npos ? 0 : colon + 2)));
  fmt::format_to(out, "{}\n", Usage(memprof));
  text += kDescription;
  text += ".SH OPTIONS\n";
  for (const OptionPage& option : memprof.options) WriteOption(text, option);
  text += ".SH COMMANDS\n";
  for (const CommandPage* command : AllCommands(memprof)) {
    if (command != &memprof && command->commands.empty()) WriteManCommand(text, *command);
  }
  text += kAfterCommands;
  text += ".SH EXAMPLES\n.EX\n";
  for (const std::string& example : memprof.examples) text += RoffEscaped(example) + "\n";
  text += ".EE\n";
  text += kSeeAlso;
  return text;
}

}  // namespace memprof
