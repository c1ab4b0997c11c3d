#include "cli/budget/check.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/basics/shell_word.h"
#include "cli/budget/contributors.h"
#include "cli/budget/verdict_text.h"
#include "cli/load/load.h"
#include "cli/reports/exactness.h"
#include "core/profile/renamed_functions.h"
#include "core/profile/symbol_key.h"
#include "core/units.h"
#include "formats/budget_file.h"
#include "formats/capture/capture_reader.h"

namespace memprof {
namespace {

// Why there is no verdict; empty: there is one. Incomplete figures would be within any limit.
// Fewer than one in so many move no figure that a limit could be near to.
constexpr uint64_t kFewDropped = 1000;

std::string WhyNoVerdict(const Profile& profile) {
  if (!profile.damage.empty()) return profile.damage[0];
  if (const uint32_t reason = profile.tracker.stop_reason; reason != 0) {
    return "the tracker gave up, so that the figures are not the whole run's: " +
           WhyStopped(reason);
  }
  if (!profile.unseen.empty() && profile.total.allocations == 0) {
    return "nothing was counted: " + UnseenLines(profile.unseen)[0];
  }
  const SnapshotTracker& tracker = profile.tracker;
  if (tracker.dropped_events > profile.total.allocations / kFewDropped) {
    return fmt::format("{} events could not be counted beside {} allocations that were",
                       FormatCount(tracker.dropped_events), FormatCount(profile.total.allocations));
  }
  return {};
}

// The meaning of a leak if the program didn't end by itself.
std::string EndNote(const Profile& profile) {
  const SnapshotProgram& program = profile.program;
  if (!IsRunKnown(program))
    return "how the program ended is not known: what is live counts as leaked";
  if (program.end_kind == EndKind::kExit) return {};
  return fmt::format("the program {}: what was live then counts as leaked", EndText(program));
}

bool AnyLimit(const Judgement& judgement, bool (*is)(const LimitKind& kind)) {
  return std::any_of(judgement.limits.begin(), judgement.limits.end(),
                     [&](const LimitVerdict& verdict) { return is(*verdict.limit->kind); });
}

void AddNotesOnBaseline(const Profile* baseline, std::vector<std::string>& notes) {
  if (baseline == nullptr) return;
  if (LacksNames(*baseline)) {
    notes.push_back(
        "the baseline lacks the names of the program's functions, so that stacks can't be "
        "compared: "
        "keep captures of run --budget or run --symbolize");
  }
  for (const std::string& line : ExactnessNotes(*baseline))
    notes.push_back("of the baseline: " + line);
}

std::vector<std::string> NotesOn(const Judgement& judgement, const Profile& profile) {
  std::vector<std::string> notes;
  if (const uint64_t sample = profile.tracker.sample_bytes; sample != 0) {
    notes.push_back("sampled: " + SamplingText(sample) +
                    "; over is what is over by more than 2 of them");
  }
  for (std::string& line : ExactnessNotes(profile)) notes.push_back(std::move(line));
  if (profile.chosen) {
    notes.push_back("what is called peak is what was live at " + profile.chosen->name +
                    profile.chosen->note);
  }
  if (AnyLimit(judgement, [](const LimitKind& kind) { return kind.leak; })) {
    if (std::string note = EndNote(profile); !note.empty()) notes.push_back(std::move(note));
    if (const Count kept = SumKeptByRuntime(profile); kept.allocations != 0) {
      notes.push_back(fmt::format("{}{} more is kept by design by the runtime, which is no leak",
                                  profile.tracker.sample_bytes != 0 ? "≈ " : "",
                                  FormatBytes(kept.bytes)));
    }
  }
  if (AnyLimit(judgement, [](const LimitKind& kind) { return kind.rows == LimitRows::kLost; })) {
    notes.insert(notes.end(), profile.inspection.notes.begin(), profile.inspection.notes.end());
  }
  if (AnyLimit(judgement,
               [](const LimitKind& kind) { return kind.key == std::string("peak_rss"); }) &&
      profile.tracker.bytes != 0 && !CountedInFile(profile)) {
    notes.push_back(
        fmt::format("the peak RSS has the tracker's {} in it", FormatBytes(profile.tracker.bytes)));
  }
  for (const MatchVerdict& match : judgement.matches) {
    if (!match.matches && !match.rule->required) {
      notes.push_back(fmt::format("nothing matches {}", match.rule->name));
    }
  }
  for (const SuppressionVerdict& verdict : judgement.suppressions) {
    if (!verdict.matches && !verdict.expired) {
      notes.push_back(fmt::format("nothing matches the suppression of {} ({})",
                                  Describe(*verdict.suppression), verdict.suppression->reason));
    }
  }
  return notes;
}

// The same for every build and run of the program.
std::string FingerprintOf(const std::string& program, const CheckItem& item) {
  std::string identity = program + '\n' + item.check + '\n' + item.subject;
  if (!item.contributors.rows.empty()) {
    const DiffRow& row = item.contributors.rows[0];
    identity +=
        '\n' + FunctionKey(row.function, row.module) + '\n' + ModuleKey(row.module, program);
  }
  const XXH128_hash_t hash = XXH3_128bits(identity.data(), identity.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// If two captures of one program exceed the same limit, the second one is another finding.
void TellFingerprintsApart(CheckReport& report) {
  std::map<std::string, int> seen;
  for (CaptureCheck& check : report.captures) {
    for (CheckItem& item : check.items) {
      const int earlier = seen[item.fingerprint]++;
      if (earlier != 0) item.fingerprint += fmt::format("-{}", earlier + 1);
    }
  }
}

CheckItem LimitItem(LimitVerdict verdict, const Profile& profile, const Profile* baseline) {
  CheckItem item;
  item.check = verdict.limit->kind->key;
  item.subject = verdict.rule->name;
  item.line = verdict.limit->line;
  item.standing = verdict.standing;
  item.says = VerdictText(verdict);
  if (verdict.suppressed > 0) {
    item.says += fmt::format("; {} more is suppressed",
                             FormatValue(verdict.suppressed, verdict.limit->kind->unit));
  }
  if (verdict.standing == Standing::kOver && verdict.of_running_threads > 0) {
    item.says += fmt::format(
        "; {} of it is of threads that still ran at the end: to allow that, add a "
        "[[budget.suppress]] with running_threads = true and a reason",
        FormatValue(verdict.of_running_threads, verdict.limit->kind->unit));
  }
  if (verdict.standing == Standing::kOver)
    item.contributors = ContributorsTo(verdict, profile, baseline);
  verdict.sites.clear();
  verdict.baseline_sites.clear();
  item.limit = std::move(verdict);
  return item;
}

CheckItem RequiredItem(const MatchVerdict& match) {
  CheckItem item;
  item.check = "required-match";
  item.subject = match.rule->name;
  item.line = match.rule->line;
  item.standing = match.matches ? Standing::kWithin : Standing::kOver;
  item.says = match.matches ? "is there"
                            : "nothing matches, though required: was it renamed, or are its "
                              "symbols missing?";
  return item;
}

CheckItem SuppressionItem(const SuppressionVerdict& verdict) {
  const Suppression& suppression = *verdict.suppression;
  CheckItem item;
  item.check = "expired-suppression";
  item.subject = "suppression of " + Describe(suppression);
  item.line = suppression.line;
  item.standing = verdict.expired ? Standing::kOver : Standing::kWithin;
  item.says = suppression.expires
                  ? fmt::format("{} {} ({})", verdict.expired ? "expired after" : "holds until",
                                FormatDay(*suppression.expires), suppression.reason)
                  : fmt::format("holds ({})", suppression.reason);
  return item;
}

}  // namespace

Result<std::chrono::year_month_day> ParseDay(const std::string& text) {
  const auto number = [&](size_t at, size_t digits) {
    int value = -1;
    const char* end = text.data() + at + digits;
    const auto parsed = std::from_chars(text.data() + at, end, value);
    return parsed.ptr == end && value >= 0 ? value : -1;
  };
  if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (year >= 0 && month >= 0 && day >= 0 && date.ok()) return date;
  }
  return Fail(ErrorKind::kUsage, fmt::format("'{}' is no day; write e.g. 2030-12-31", text));
}

std::string FormatDay(std::chrono::year_month_day day) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

namespace {

Result<Profile> LoadBaseline(const std::string& capture, SymbolOptions symbols) {
  symbols.says_stored = false;
  auto profile = LoadProfile(capture, symbols);
  if (!profile) return profile;
  std::string why = WhyNoVerdict(*profile);
  if (why.empty()) why = CutText(*profile);
  if (why.empty()) return profile;
  return Fail(ErrorKind::kUnreadable, fmt::format("{}: {}", capture, why));
}

// The newest captures of the folder.
std::vector<std::string> KeptIn(const std::filesystem::path& folder) {
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> captures;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".memprof" || !entry.is_regular_file(error)) continue;
    captures.emplace_back(entry.last_write_time(error), entry.path().string());
  }
  std::sort(captures.rbegin(), captures.rend());
  if (captures.size() > kMostKeptBaselines) captures.resize(kMostKeptBaselines);
  std::vector<std::string> names;
  for (auto& [time, name] : captures) names.push_back(std::move(name));
  return names;
}

Result<void> LoadBaselines(const SymbolOptions& symbols, Yardstick& yardstick) {
  for (const std::string& name : yardstick.baseline_names) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(name, error);
    for (const std::string& capture : folder ? KeptIn(name) : std::vector<std::string>{name}) {
      auto profile = LoadBaseline(capture, symbols);
      if (profile) {
        yardstick.baselines.push_back(std::move(*profile));
      } else if (folder) {
        yardstick.notes.push_back("left out of the baselines: " + profile.error().message);
      } else {
        return Fail(profile.error().kind, "the baseline: " + profile.error().message);
      }
    }
  }
  std::stable_sort(yardstick.baselines.begin(), yardstick.baselines.end(),
                   [](const Profile& a, const Profile& b) {
                     return a.program.start_unix_ms < b.program.start_unix_ms;
                   });
  return {};
}

// The baselines for one capture: with its names for functions that were renamed since.
class NamedBaselines {
 public:
  NamedBaselines(const std::vector<Profile>& baselines, const Profile& profile) {
    copies_.reserve(baselines.size());  // all_ points into it
    for (const Profile& baseline : baselines) {
      const std::vector<RenamedFunction> renamed = FindRenamedFunctions(baseline, profile);
      all_.push_back(&baseline);
      if (renamed.empty()) continue;
      copies_.push_back(baseline);
      ApplyLaterNames(renamed, copies_.back());
      all_.back() = &copies_.back();
      newest_renamed_ = renamed;
    }
  }

  const std::vector<const Profile*>& all() const { return all_; }
  // Since the newest baseline that has functions of other names.
  const std::vector<RenamedFunction>& newest_renamed() const { return newest_renamed_; }

 private:
  std::vector<Profile> copies_;
  std::vector<const Profile*> all_;  // oldest first
  std::vector<RenamedFunction> newest_renamed_;
};

// The judgements against each baseline, oldest first; one without if there is none.
std::vector<Judgement> JudgeAgainstEach(const Yardstick& yardstick,
                                        const std::vector<const Profile*>& baselines,
                                        const Profile& profile) {
  std::vector<Judgement> judgements;
  for (const Profile* baseline : baselines) {
    judgements.push_back(Judge(yardstick.budget, profile, baseline, yardstick.today));
  }
  if (judgements.empty()) {
    judgements.push_back(Judge(yardstick.budget, profile, nullptr, yardstick.today));
  }
  return judgements;
}

// The index of the baseline that a limit is relative to: the lower median of those that have its
// figure; if none has it, the newest.
size_t MedianBaseline(const std::vector<Judgement>& judgements, size_t limit) {
  std::vector<std::pair<double, size_t>> values;
  for (size_t i = 0; i < judgements.size(); ++i) {
    const LimitVerdict& verdict = judgements[i].limits[limit];
    if (verdict.baseline) values.emplace_back(*verdict.baseline, i);
  }
  if (values.empty()) return judgements.size() - 1;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2].second;
}

// Says that a figure has risen in each of several runs, which no limit on one step sees.
std::string TrendNote(const std::vector<Judgement>& judgements, size_t limit) {
  constexpr size_t kFewestSteps = 3;
  const LimitVerdict& now = judgements.back().limits[limit];
  if (now.standing == Standing::kNotJudged) return {};
  double later = now.value;
  size_t steps = 0;
  for (size_t i = judgements.size(); i > 0; --i) {
    const auto& earlier = judgements[i - 1].limits[limit].baseline;
    if (!earlier || *earlier >= later) break;
    later = *earlier;
    ++steps;
  }
  if (steps < kFewestSteps) return {};
  const Unit unit = now.limit->kind->unit;
  return fmt::format("{}: {} has risen in each of the last {} runs, from {} to {}", now.rule->name,
                     now.limit->kind->key, steps, FormatValue(later, unit),
                     FormatValue(now.value, unit));
}

}  // namespace

Result<Yardstick> LoadYardstick(const std::string& budget_file,
                                const std::vector<std::string>& baselines,
                                const SymbolOptions& symbols) {
  Yardstick yardstick;
  yardstick.budget_file = budget_file;
  yardstick.baseline_names = baselines;
  yardstick.today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const auto text = ReadWholeFile(budget_file);
  if (!text) return Fail(ErrorKind::kUsage, "the budget: " + text.error().message);
  auto budget = ParseBudget(*text, budget_file);
  if (!budget) return tl::unexpected<Error>(budget.error());
  yardstick.budget = std::move(*budget);
  if (auto loaded = LoadBaselines(symbols, yardstick); !loaded) {
    return tl::unexpected<Error>(loaded.error());
  }
  return yardstick;
}

CaptureCheck CheckProfile(const Yardstick& yardstick, const std::string& capture,
                          const Profile& profile) {
  CaptureCheck check;
  check.capture = capture;
  check.program = profile.program.program;
  check.duration_ms = profile.program.duration_ms;
  const NamedBaselines baselines(yardstick.baselines, profile);
  std::vector<Judgement> judgements = JudgeAgainstEach(yardstick, baselines.all(), profile);
  const Judgement& judgement = judgements.back();
  check.notes = NotesOn(judgement, profile);
  check.unseen = UnseenLines(profile.unseen);
  AddNotesOnBaseline(yardstick.baselines.empty() ? nullptr : &yardstick.baselines.back(),
                     check.notes);
  if (!baselines.newest_renamed().empty()) {
    check.notes.push_back("of the baseline: " + RenamedNote(baselines.newest_renamed()));
  }
  check.notes.insert(check.notes.end(), yardstick.notes.begin(), yardstick.notes.end());
  for (size_t i = 0; i < judgement.limits.size(); ++i) {
    if (std::string trend = TrendNote(judgements, i); !trend.empty()) {
      check.notes.push_back(std::move(trend));
    }
  }
  for (size_t i = 0; i < judgement.limits.size(); ++i) {
    const size_t median = MedianBaseline(judgements, i);
    const Profile* baseline = baselines.all().empty() ? nullptr : baselines.all()[median];
    check.items.push_back(LimitItem(std::move(judgements[median].limits[i]), profile, baseline));
  }
  for (const MatchVerdict& match : judgement.matches) {
    if (match.rule->required) check.items.push_back(RequiredItem(match));
  }
  for (const SuppressionVerdict& verdict : judgement.suppressions) {
    check.items.push_back(SuppressionItem(verdict));
  }
  std::stable_sort(check.items.begin(), check.items.end(),
                   [](const CheckItem& a, const CheckItem& b) { return a.line < b.line; });
  for (CheckItem& item : check.items) item.fingerprint = FingerprintOf(check.program, item);
  return check;
}

CheckReport Check(const Yardstick& yardstick, const std::vector<std::string>& captures,
                  const SymbolOptions& symbols) {
  CheckReport report;
  report.budget = yardstick.budget_file;
  if (!yardstick.baselines.empty()) {
    report.baseline = fmt::format("{}", fmt::join(yardstick.baseline_names, ", "));
  }
  for (const std::string& name : yardstick.baseline_names) {
    report.baseline_options += " --baseline " + ShellWord(name);
  }
  for (const std::string& capture : captures) {
    const auto profile = LoadProfile(capture, symbols);
    std::string why = profile ? WhyNoVerdict(*profile) : profile.error().message;
    if (profile && why.empty() && !yardstick.allow_cut) {
      why = CutText(*profile);
      if (!why.empty()) why += "; --allow-cut judges it all the same";
    }
    if (why.empty()) {
      report.captures.push_back(CheckProfile(yardstick, capture, *profile));
      continue;
    }
    CaptureCheck unreadable;
    unreadable.capture = capture;
    unreadable.error = profile ? fmt::format("{}: no verdict: {}", capture, why) : why;
    report.captures.push_back(std::move(unreadable));
  }
  TellFingerprintsApart(report);
  return report;
}

}  // namespace memprof
