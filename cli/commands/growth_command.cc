// memprof growth: which places grow, how fast, and when that reaches a limit.

#include <memory>
#include <optional>
#include <string>

#include "cli/basics/ascii_text.h"
#include "cli/basics/option_checks.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/view_options.h"
#include "cli/reports/exactness.h"
#include "cli/reports/growth/growth_data.h"
#include "cli/reports/growth/growth_text.h"
#include "cli/reports/report.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kRows = 12;

struct GrowthCommandOptions {
  std::string capture;
  std::string limit;
  std::string since;
  size_t rows = kRows;
  Option rows_option;
  bool all = false;
  bool json = false;
  bool csv = false;
  SymbolOptions symbols;
  OutputOptions output;
};

int ReportGrowth(const GrowthCommandOptions& options) {
  std::optional<uint64_t> limit_bytes;
  if (!options.limit.empty()) {
    const auto bytes = ParseBytes(options.limit);
    if (!bytes) return ExitStatusOf({bytes.error().kind, "--limit: " + bytes.error().message});
    limit_bytes = *bytes;
  }
  uint64_t since_ms = 0;
  if (!options.since.empty()) {
    const auto since = ParseDuration(options.since);
    if (!since) return ExitStatusOf({since.error().kind, "--since: " + since.error().message});
    since_ms = static_cast<uint64_t>(since->count());
  }
  const size_t data_rows = options.rows_option.count() != 0 ? options.rows : 0;
  return Report({{options.capture}}, options.symbols, options.output, Figure::kPeak,
                [&](const Profile& profile, const TextStyle& style) {
                  const GrowthReport report = MakeGrowthReport(profile, since_ms);
                  if (options.json || options.csv) SayCut(profile);
                  if (options.json) return GrowthJson(profile, report, data_rows, limit_bytes);
                  if (options.csv) return GrowthCsv(report, data_rows);
                  return ForLocale(
                      CutHead(profile, style) +
                      GrowthText(profile, report, {options.rows, options.all, limit_bytes, style}));
                });
}

}  // namespace

CommandBody SetUpGrowth(Arguments& arguments) {
  auto options = std::make_shared<GrowthCommandOptions>();
  arguments
      .Add("capture", options->capture, "The capture; with FILE@10m the run as it was up to then")
      .Required()
      .TypeName("CAPTURE");
  arguments.Add("--limit", options->limit, "Say when the heap reaches this size, e.g. 4GiB")
      .TypeName("BYTES");
  arguments.Add("--since", options->since, "Judge what came after this time, e.g. 10m")
      .TypeName("TIME");
  arguments.AddFlag("--all", options->all, "A row for every place, also for those that don't grow");
  options->rows_option =
      arguments.Add("-n,--rows", options->rows, "At most so many that grow; 0: all")
          .ShowDefault()
          .Check(RowCount);
  AddDataOptions(arguments, options->json, options->csv);
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  AddOutputOptions(arguments, options->output);
  return [options] { return ReportGrowth(*options); };
}

}  // namespace memprof
