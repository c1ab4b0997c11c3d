#include "formats/budget_file.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/nearest_word.h"
#include "formats/stray_character.h"

namespace memprof {
namespace {

using Keys = std::vector<std::string>;

constexpr const char* kDefaultRuleName = "the program";

struct PatternKey {
  const char* name;
  std::vector<Pattern> SitePattern::*patterns;
  Result<Pattern> (*glob)(std::string_view glob);
};
constexpr PatternKey kPatternKeys[] = {
    {"function", &SitePattern::functions, Pattern::Glob},
    {"namespace", &SitePattern::namespaces, Pattern::Glob},
    {"source", &SitePattern::sources, Pattern::PathGlob},
    {"module", &SitePattern::modules, Pattern::PathGlob},
    {"thread", &SitePattern::threads, Pattern::Glob},
};

void AddPatternKeys(Keys& keys) {
  for (const PatternKey& key : kPatternKeys) keys.push_back(key.name);
  keys.push_back("where");
}

bool AppliesTo(const LimitKind& kind, LimitScope scope) {
  return kind.scope == LimitScope::kBoth || kind.scope == scope;
}

Keys LimitKeys(LimitScope scope) {
  Keys keys;
  for (const LimitKind& kind : LimitKinds()) {
    if (AppliesTo(kind, scope)) keys.push_back(kind.key);
  }
  keys.push_back("noise_floor");
  keys.push_back("noise_floor_allocations");
  return keys;
}

uint32_t LineOf(const toml::node& node) { return node.source().begin.line; }

// Reading ends at the first error: later ones may be its consequences and would only confuse.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  Result<Budget> Read(const toml::table& file) {
    Budget budget;
    ReadFile(file, budget);
    if (!error_.empty()) return Fail(ErrorKind::kUsage, error_);
    return budget;
  }

 private:
  bool failed() const { return !error_.empty(); }

  void Wrong(const toml::source_region& at, std::string_view what) {
    if (failed()) return;
    error_ = fmt::format("{}:{}:{}: {}", name_, at.begin.line, at.begin.column, what);
  }

  void Unknown(const toml::key& key, const char* where, const Keys& known,
               std::string_view hint = {}) {
    Wrong(key.source(),
          fmt::format("there is no '{}' in {}{}", key.str(), where,
                      hint.empty() ? SuggestionFor(key.str(), known) : std::string(hint)));
  }

  void ReadFile(const toml::table& file, Budget& budget) {
    const toml::table* table = nullptr;
    for (auto&& [key, node] : file) {
      if (key.str() != "budget") {
        Keys inside = LimitKeys(LimitScope::kProgram);
        inside.insert(inside.end(), {"match", "suppress"});
        const bool misplaced = std::find(inside.begin(), inside.end(), key.str()) != inside.end();
        const std::string belongs = node.is_table() || node.is_array_of_tables()
                                        ? fmt::format("; write [[budget.{}]]", key.str())
                                        : "; it goes below [budget]";
        return Unknown(key, "the file", {"budget"}, misplaced ? belongs : "");
      }
      table = node.as_table();
      if (table == nullptr) return Wrong(node.source(), "write [budget] on a line of its own");
    }
    if (table == nullptr) {
      if (!failed()) error_ = fmt::format("{}:1:1: there is no [budget]", name_);
      return;
    }
    ReadBudget(*table, budget);
  }

  void ReadBudget(const toml::table& table, Budget& budget) {
    budget.program.name = kDefaultRuleName;
    budget.program.line = LineOf(table);
    Keys known = LimitKeys(LimitScope::kProgram);
    known.insert(known.end(), {"match", "suppress"});
    for (auto&& [key, node] : table) {
      if (key.str() == "match") {
        ForEachTable(key, node, [&](const toml::table& match) { ReadMatch(match, budget); });
      } else if (key.str() == "suppress") {
        ForEachTable(key, node, [&](const toml::table& entry) { ReadSuppression(entry, budget); });
      } else if (!ReadLimitKey(key, node, LimitScope::kProgram, budget.program)) {
        const bool of_match = FindLimitKind(key.str()) != nullptr;
        Unknown(key, "[budget]", known, of_match ? "; it goes into a [[budget.match]]" : "");
      }
      if (failed()) return;
    }
    SortLimits(budget.program);
    // TOML orders tables by name and arrays by position.
    if (budget.program.limits.empty() && budget.matches.empty()) {
      Wrong(table.source(), "this limits nothing; write e.g. peak = \"24 MiB\"");
    }
  }

  template <typename Function>
  void ForEachTable(const toml::key& key, const toml::node& node, Function&& function) {
    const toml::array* array = node.as_array();
    if (array == nullptr) {
      return Wrong(key.source(), fmt::format("write [[budget.{}]], with two brackets", key.str()));
    }
    for (const toml::node& entry : *array) {
      const toml::table* table = entry.as_table();
      if (table == nullptr) {
        return Wrong(entry.source(), fmt::format("write it as [[budget.{}]]", key.str()));
      }
      function(*table);
      if (failed()) return;
    }
  }

  void ReadMatch(const toml::table& table, Budget& budget) {
    BudgetRule rule;
    rule.line = LineOf(table);
    rule.noise_floor = -1;  // replaced by the program's (InheritNoiseFloors)
    rule.noise_floor_allocations = -1;
    Keys known = LimitKeys(LimitScope::kMatch);
    AddPatternKeys(known);
    known.insert(known.end(), {"name", "required"});
    for (auto&& [key, node] : table) {
      if (key.str() == "name") {
        rule.name = Text(key, node);
      } else if (key.str() == "required") {
        const toml::value<bool>* value = node.as_boolean();
        if (value == nullptr) return Wrong(node.source(), "'required' is true or false");
        rule.required = value->get();
      } else if (!ReadPatternKey(key, node, rule.pattern) &&
                 !ReadLimitKey(key, node, LimitScope::kMatch, rule)) {
        const bool of_program = FindLimitKind(key.str()) != nullptr;
        Unknown(key, "[[budget.match]]", known,
                of_program ? ": it is of the whole program; it goes into [budget]" : "");
      }
      if (failed()) return;
    }
    CheckPattern(table, rule.pattern, "[[budget.match]]");
    for (const Limit& limit : rule.limits) CheckThreads(table, rule.pattern, *limit.kind);
    if (rule.limits.empty() && !rule.required) {
      Wrong(table.source(), "this match limits nothing; write e.g. peak = \"24 MiB\"");
    }
    if (rule.name.empty()) rule.name = Describe(rule.pattern);
    SortLimits(rule);
    budget.matches.push_back(std::move(rule));
  }

  void ReadSuppression(const toml::table& table, Budget& budget) {
    Suppression suppression;
    suppression.line = LineOf(table);
    Keys known;
    AddPatternKeys(known);
    known.insert(known.end(), {"running_threads", "reason", "expires", "limits"});
    for (auto&& [key, node] : table) {
      if (key.str() == "reason") {
        suppression.reason = Text(key, node);
      } else if (key.str() == "expires") {
        suppression.expires = Day(node);
      } else if (key.str() == "running_threads") {
        const toml::value<bool>* value = node.as_boolean();
        if (value == nullptr) return Wrong(node.source(), "'running_threads' is true or false");
        suppression.running_threads = value->get();
      } else if (key.str() == "limits") {
        ReadKinds(node, suppression.kinds);
      } else if (!ReadPatternKey(key, node, suppression.pattern)) {
        const bool limit = FindLimitKind(key.str()) != nullptr;
        Unknown(key, "[[budget.suppress]]", known,
                limit ? fmt::format("; write limits = [\"{}\"]", key.str()) : std::string());
      }
      if (failed()) return;
    }
    if (!suppression.running_threads) {
      CheckPattern(table, suppression.pattern, "[[budget.suppress]]");
    }
    if (suppression.reason.empty()) {
      Wrong(table.source(), "a suppression needs its reason = \"…\"");
    }
    // Threads that are never ended are a program's design.
    if (!suppression.expires && !suppression.running_threads) {
      Wrong(table.source(),
            "a suppression needs the last day on which it holds: expires = 2030-12-31");
    }
    if (suppression.kinds.empty()) {
      for (const LimitKind& kind : LimitKinds()) {
        const bool of_blocks = CountsLeakedBlocks(kind) || !suppression.running_threads;
        const bool is_known = IsKnownByThread(kind) || suppression.pattern.threads.empty();
        if (kind.leak && of_blocks && is_known) suppression.kinds.push_back(&kind);
      }
    }
    for (const LimitKind* kind : suppression.kinds) {
      CheckThreads(table, suppression.pattern, *kind);
      if (!suppression.running_threads || CountsLeakedBlocks(*kind)) continue;
      Wrong(table.source(),
            fmt::format("running_threads is about blocks that are left at the end: it can't take "
                        "them out of '{}', only out of leaked and leaked_allocations",
                        kind->key));
    }
    budget.suppressions.push_back(std::move(suppression));
  }

  void CheckThreads(const toml::table& table, const SitePattern& pattern, const LimitKind& kind) {
    if (IsKnownByThread(kind) || pattern.threads.empty()) return;
    Wrong(table.source(), fmt::format("'{}' isn't known by thread: leave out 'thread'", kind.key));
  }

  void CheckPattern(const toml::table& table, const SitePattern& pattern, const char* where) {
    if (!IsEmpty(pattern)) return;
    Wrong(table.source(),
          fmt::format("{} needs a function, namespace, source, module or thread", where));
  }

  void ReadKinds(const toml::node& node, std::vector<const LimitKind*>& kinds) {
    Keys known;
    for (const LimitKind& kind : LimitKinds()) {
      if (AppliesTo(kind, LimitScope::kMatch)) known.push_back(kind.key);
    }
    ForEachOf(node, [&](const toml::node& entry) {
      const toml::value<std::string>* text = entry.as_string();
      if (text == nullptr) return Wrong(entry.source(), "'limits' are the names of limits");
      const LimitKind* kind = FindLimitKind(text->get());
      if (kind == nullptr || !AppliesTo(*kind, LimitScope::kMatch)) {
        return Wrong(entry.source(), fmt::format("'{}' is no limit of sites{}", text->get(),
                                                 SuggestionFor(text->get(), known)));
      }
      kinds.push_back(kind);
    });
    if (kinds.empty()) Wrong(node.source(), "'limits' names none");
  }

  // One value, or an array of them.
  template <typename Function>
  void ForEachOf(const toml::node& node, Function&& function) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return function(node);
    for (const toml::node& entry : *array) {
      function(entry);
      if (failed()) return;
    }
  }

  bool ReadPatternKey(const toml::key& key, const toml::node& node, SitePattern& pattern) {
    if (key.str() == "where") {
      const std::string where = Text(key, node);
      if (!failed() && where != "any" && where != "place") {
        Wrong(node.source(), fmt::format("where = \"{}\": write \"any\" (of the stack's frames) or "
                                         "\"place\" (what reports name)",
                                         where));
      }
      pattern.where = where == "place" ? Where::kPlace : Where::kAny;
      return true;
    }
    const auto at = std::find_if(std::begin(kPatternKeys), std::end(kPatternKeys),
                                 [&](const PatternKey& known) { return key.str() == known.name; });
    if (at == std::end(kPatternKeys)) return false;
    std::vector<Pattern>& patterns = pattern.*at->patterns;
    ForEachOf(node, [&](const toml::node& entry) {
      auto made = MakePattern(key, entry, at->glob);
      if (made) return patterns.push_back(std::move(*made));
      Wrong(entry.source(), made.error().message);
    });
    if (patterns.empty()) Wrong(node.source(), fmt::format("'{}' names nothing", key.str()));
    return true;
  }

  Result<Pattern> MakePattern(const toml::key& key, const toml::node& node,
                              Result<Pattern> (*glob)(std::string_view)) {
    if (const auto* text = node.as_string()) return glob(text->get());
    if (const toml::table* table = node.as_table(); table != nullptr && table->size() == 1) {
      if (const auto* text = (*table)["regex"].as_string()) return Pattern::Regex(text->get());
    }
    return Fail(ErrorKind::kUsage,
                fmt::format("write {0} = \"a*\" or {0} = {{ regex = \"^a\" }}", key.str()));
  }

  // Returns false if the key is no limit of this scope.
  bool ReadLimitKey(const toml::key& key, const toml::node& node, LimitScope scope,
                    BudgetRule& rule) {
    if (key.str() == "noise_floor" || key.str() == "noise_floor_allocations") {
      const bool bytes = key.str() == "noise_floor";
      const auto amount = Amount(node, bytes ? Unit::kBytes : Unit::kCount);
      if (amount) (bytes ? rule.noise_floor : rule.noise_floor_allocations) = *amount;
      return true;
    }
    const LimitKind* kind = FindLimitKind(key.str());
    if (kind == nullptr || !AppliesTo(*kind, scope)) return false;
    Limit limit;
    limit.kind = kind;
    limit.line = key.source().begin.line;
    ReadBound(node, kind->unit, limit.bound);
    rule.limits.push_back(std::move(limit));
    return true;
  }

  void ReadBound(const toml::node& node, Unit unit, Bound& bound) {
    if (const toml::table* table = node.as_table()) {
      for (auto&& [key, part] : *table) {
        if (key.str() == "max") {
          bound.most = Amount(part, unit);
        } else if (key.str() == "over_baseline") {
          ReadIncrements(part, unit, bound);
        } else {
          Unknown(key, "a limit", {"max", "over_baseline"});
        }
        if (failed()) return;
      }
      if (table->empty()) {
        return Wrong(node.source(), "write max = … or over_baseline = … between the braces");
      }
      if (bound.most) bound.text = Written((*table)["max"].node()) + JoinedText(bound);
      return;
    }
    const toml::value<std::string>* text = node.as_string();
    if (node.is_array() || (text != nullptr && text->get().find('+') != std::string::npos)) {
      return ReadIncrements(node, unit, bound);
    }
    bound.most = Amount(node, unit);
    bound.text = Written(&node);
  }

  static std::string JoinedText(const Bound& bound) {
    return bound.text.empty() ? std::string() : " and " + bound.text;
  }

  static std::string Written(const toml::node* node) {
    if (const auto* text = node->as_string()) return text->get();
    const auto* number = node->as_integer();
    return number != nullptr ? fmt::format("{}", number->get()) : std::string();
  }

  void ReadIncrements(const toml::node& node, Unit unit, Bound& bound) {
    ForEachOf(node, [&](const toml::node& entry) {
      const toml::value<std::string>* text = entry.as_string();
      if (text == nullptr) {
        return Wrong(entry.source(), "what is allowed over the baseline is written \"+5%\"");
      }
      const auto increment = ParseIncrement(text->get(), unit);
      if (!increment) return Wrong(entry.source(), increment.error().message);
      bound.increments.push_back(*increment);
      bound.text += (bound.text.empty() ? "" : " or ") + text->get();
    });
    if (bound.increments.empty()) Wrong(node.source(), "write e.g. [\"+5%\", \"+2 MiB\"]");
  }

  std::optional<double> Amount(const toml::node& node, Unit unit) {
    if (const toml::value<std::string>* text = node.as_string()) {
      const auto amount = ParseAmount(text->get(), unit);
      if (amount) return *amount;
      Wrong(node.source(), amount.error().message);
      return std::nullopt;
    }
    const toml::value<int64_t>* number = node.as_integer();
    if (number != nullptr && number->get() >= 0 && unit != Unit::kPercent) {
      return static_cast<double>(number->get());
    }
    Wrong(node.source(), unit == Unit::kPercent ? "write a percentage, e.g. \"25%\""
                         : unit == Unit::kCount ? "write a whole number, e.g. 1000"
                                                : "write a size, e.g. \"24 MiB\"");
    return std::nullopt;
  }

  std::string Text(const toml::key& key, const toml::node& node) {
    const toml::value<std::string>* text = node.as_string();
    if (text != nullptr && !text->get().empty()) return text->get();
    Wrong(node.source(), fmt::format("write {} = \"…\"", key.str()));
    return {};
  }

  std::chrono::year_month_day Day(const toml::node& node) {
    const toml::value<toml::date>* date = node.as_date();
    if (date == nullptr) {
      Wrong(node.source(), "write the day without quotes: expires = 2030-12-31");
      return {};
    }
    const toml::date& day = date->get();
    return {std::chrono::year(day.year), std::chrono::month(day.month), std::chrono::day(day.day)};
  }

  // Restores the order of the lines: TOML's tables have none.
  static void SortLimits(BudgetRule& rule) {
    std::sort(rule.limits.begin(), rule.limits.end(),
              [](const Limit& a, const Limit& b) { return a.line < b.line; });
  }

  const std::string name_;
  std::string error_;
};

// A match without a noise floor inherits the program's.
void InheritNoiseFloors(Budget& budget) {
  for (BudgetRule& rule : budget.matches) {
    if (rule.noise_floor < 0) rule.noise_floor = budget.program.noise_floor;
    if (rule.noise_floor_allocations < 0) {
      rule.noise_floor_allocations = budget.program.noise_floor_allocations;
    }
  }
}

// A message that quotes the file stays on one line, whatever the file contains.
std::string OneLine(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
    } else {
      line += c == '\n' ? std::string("\\n") : fmt::format("\\x{:02x}", byte);
    }
  }
  return line;
}

}  // namespace

Result<Budget> ParseBudget(std::string_view text, const std::string& name) {
  const auto wrong = [](const std::string& message) {
    return Fail(ErrorKind::kUsage, OneLine(message));
  };
  if (const auto place = StrayCharacter(text)) {
    return wrong(
        fmt::format("{}:{}:{}: a character that isn't ASCII can only stand in a string (\"…\") or "
                    "a comment",
                    name, place->line, place->column));
  }
  const toml::parse_result parsed = toml::parse(text, std::string_view(name));
  if (!parsed) {
    const toml::source_position at = parsed.error().source().begin;
    return wrong(
        fmt::format("{}:{}:{}: {}", name, at.line, at.column, parsed.error().description()));
  }
  auto budget = Reader(name).Read(parsed.table());
  if (!budget) return wrong(budget.error().message);
  InheritNoiseFloors(*budget);
  return budget;
}

}  // namespace memprof
