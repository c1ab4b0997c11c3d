#include "cli/basics/arguments.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace memprof {

Option& Option::TypeName(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::Required() {
  option_->required();
  return *this;
}

Option& Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Option& Option::ShowDefault(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::Check(std::function<std::string(const std::string&)> check) {
  option_->check(std::move(check), "", "");
  return *this;
}

Option& Option::Excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::Needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::OneValueEach() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::EachTime() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->trigger_on_parse();
  return *this;
}

size_t Option::count() const { return option_->count(); }

namespace {

// An empty value would be taken for none. It is that of a variable of a shell that isn't set.
Option NotEmpty(CLI::Option* option) {
  Option made(option);
  if (!option->get_positional()) {
    made.Check([](const std::string& value) {
      return value.empty() ? std::string("its value is empty") : std::string();
    });
  }
  return made;
}

}  // namespace

Option Arguments::Add(const std::string& name, std::string& value, const std::string& description) {
  return NotEmpty(app_->add_option(name, value, description));
}

Option Arguments::Add(const std::string& name, std::vector<std::string>& values,
                      const std::string& description) {
  return NotEmpty(app_->add_option(name, values, description));
}

Option Arguments::Add(const std::string& name, uint32_t& value, const std::string& description) {
  return Option(app_->add_option(name, value, description));
}

Option Arguments::Add(const std::string& name, uint64_t& value, const std::string& description) {
  return Option(app_->add_option(name, value, description));
}

Option Arguments::AddFlag(const std::string& name, bool& value, const std::string& description) {
  return Option(app_->add_flag(name, value, description));
}

Option Arguments::AddTaken(const std::string& name,
                           std::function<Result<void>(const std::string&)> take,
                           const std::string& description) {
  return Option(app_->add_option_function<std::string>(
      name,
      [take = std::move(take), name](const std::string& value) {
        if (const auto taken = take(value); !taken) {
          throw CLI::ValidationError(name, taken.error().message);
        }
      },
      description));
}

Option Arguments::Get(const std::string& name) const { return Option(app_->get_option(name)); }

bool Arguments::IsGiven(const std::string& name) const { return app_->count(name) != 0; }

std::vector<std::string> Arguments::GivenOptions() const {
  std::vector<std::string> given;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    const std::string name = option->get_name();
    if (option->count() != 0 && name.starts_with("--")) given.push_back(name);
  }
  return given;
}

Arguments Arguments::AddCommand(const std::string& name, const std::string& summary) {
  return Arguments(*app_->add_subcommand(name, summary));
}

void Arguments::RequireCommand() { app_->require_subcommand(1); }

void Arguments::EndWithCommandLine() {
  app_->prefix_command();
  app_->validate_positionals();
}

std::vector<std::string> Arguments::CommandLine() const { return app_->remaining(); }

const CLI::App& Arguments::Program() const {
  const CLI::App* app = app_;
  while (app->get_parent() != nullptr) app = app->get_parent();
  return *app;
}

}  // namespace memprof
