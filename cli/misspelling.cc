#include "cli/misspelling.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "formats/nearest_word.h"

namespace memprof {
namespace {

const CLI::App* FindCommand(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::optional<Misspelling> FindMisspelling(const CLI::App& app,
                                           std::span<const char* const> words) {
  const CLI::App* command = &app;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") return std::nullopt;
    // These begin a command line of Python's: memprof run -m MODULE.
    if ((word == "-m" || word == "-c") && command->get_prefix_command()) return std::nullopt;
    if (word.starts_with("--")) {
      const std::string name(word.substr(0, word.find('=')));
      const CLI::Option* option = command->get_option_no_throw(name);
      if (option == nullptr) {
        return Misspelling{"there is no option " + name, NearestWord(name, OptionNames(*command)),
                           command};
      }
      if (option->get_items_expected_min() > 0) {
        if (name == word) ++i;  // its value
        if (word.substr(name.size()) == "=") {
          return Misspelling{std::string(word) + " has no value", "", command};
        }
      }
    } else if (word.size() > 1 && word[0] == '-') {
      const CLI::Option* option = command->get_option_no_throw(std::string(word.substr(0, 2)));
      if (option == nullptr) {
        return Misspelling{"there is no option " + std::string(word.substr(0, 2)), "", command};
      }
      if (option->get_items_expected_min() > 0 && word.size() == 2) ++i;
    } else if (const CLI::App* below = FindCommand(*command, word)) {
      command = below;
    } else if (const auto names = CommandNames(*command); !names.empty()) {
      return Misspelling{"there is no command '" + std::string(word) + "'",
                         NearestWord(word, names), command};
    } else if (command->get_prefix_command()) {
      return std::nullopt;  // from here on the words are a program's
    }
  }
  return std::nullopt;
}

}  // namespace memprof
