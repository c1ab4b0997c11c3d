#include "cli/manual/command_page.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

namespace memprof {
namespace {

std::string LongestName(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

OptionPage ReadOption(const CLI::Option& option) {
  OptionPage page;
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  if (page.names.empty()) page.names.push_back(option.get_name(true));
  page.description = option.get_description();
  page.required = option.get_required();
  for (const CLI::Option* other : option.get_excludes())
    page.excludes.push_back(LongestName(*other));
  for (const CLI::Option* other : option.get_needs()) page.needs.push_back(LongestName(*other));
  // CLI11 keeps these in sets of pointers, whose order would be that of the addresses.
  std::sort(page.excludes.begin(), page.excludes.end());
  std::sort(page.needs.begin(), page.needs.end());
  if (option.get_items_expected_max() == 0) return page;
  page.value = option.get_type_name();
  page.kind = KindOf(page.value);
  page.words = WordsOf(page.value);
  page.fallback = option.get_default_str();
  page.repeated = option.get_items_expected_max() > 1;
  return page;
}

}  // namespace

std::vector<std::string> WordsOf(std::string_view type_name) {
  if (type_name.find('|') == std::string_view::npos) return {};
  if (type_name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-|") !=
      std::string_view::npos) {
    return {};
  }
  std::vector<std::string> words;
  std::istringstream text{std::string(type_name)};
  for (std::string word; std::getline(text, word, '|');) words.push_back(word);
  return words;
}

ValueKind KindOf(std::string_view type_name) {
  if (type_name.substr(0, 1) == "[") return ValueKind::kCommandLine;
  if (!WordsOf(type_name).empty()) return ValueKind::kWords;
  if (type_name == "COMMAND") return ValueKind::kCommand;
  for (const std::string_view file : {"FILE", "CAPTURE", "PID|CAPTURE", "PID|CAPTURE|URL"}) {
    if (type_name.substr(0, file.size()) == file) return ValueKind::kFile;
  }
  return ValueKind::kOpaque;
}

CommandPage ReadCommand(const CLI::App& app, std::string_view parent_path) {
  CommandPage page;
  page.name = app.get_name();
  page.path = std::string(parent_path) + (parent_path.empty() ? "" : " ") + page.name;
  page.summary = app.get_description();
  std::istringstream footer(app.get_footer());
  for (std::string line; std::getline(footer, line);) {
    const size_t text = line.find_first_not_of(' ');
    if (text != 0 && text != std::string::npos) page.examples.push_back(line.substr(text));
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? page.arguments : page.options).push_back(ReadOption(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) page.commands.push_back(ReadCommand(*command, page.path));
  }
  return page;
}

}  // namespace memprof
