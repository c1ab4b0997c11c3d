// One row a site with all its figures, for spreadsheets and databases. RFC 4180, with a header.

#include <fmt/format.h>

#include <vector>

#include "formats/csv_line.h"
#include "formats/exporters.h"

namespace memprof {
namespace {

void AddFigure(std::vector<std::string>& row, const Count& count, const Variance& variance,
               bool estimated) {
  row.push_back(fmt::format("{}", count.bytes));
  row.push_back(fmt::format("{}", count.allocations));
  if (!estimated) return;
  const Count error = StandardError(variance);
  row.push_back(fmt::format("{}", error.bytes));
  row.push_back(fmt::format("{}", error.allocations));
}

}  // namespace

std::string ExportCsv(const Profile& profile, const ExportOptions&) {
  const bool estimated = profile.tracker.sample_bytes != 0;
  std::vector<std::string> row = {"function", "file", "line", "module", "thread"};
  for (const char* figure : {"peak", "leaked", "total"}) {
    for (const char* unit : {"bytes", "allocations"}) {
      row.push_back(fmt::format("{}_{}", figure, unit));
    }
    if (!estimated) continue;
    for (const char* unit : {"bytes", "allocations"}) {
      row.push_back(fmt::format("{}_{}_standard_error", figure, unit));
    }
  }
  row.push_back("stack");  // innermost first
  std::string text = CsvLine(row);
  for (const ProfileSite& site : profile.sites) {
    const ProfileFrame none;
    const ProfileFrame& leaf =
        site.node != 0 ? profile.frames[profile.nodes[site.node].frame] : none;
    std::vector<std::string> stack;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
      stack.push_back(profile.frames[profile.nodes[node].frame].function);
    }
    row = {leaf.function, leaf.file, leaf.line != 0 ? fmt::format("{}", leaf.line) : "",
           leaf.module < profile.modules.size() ? profile.modules[leaf.module].path : "",
           profile.thread_names[site.thread_name]};
    AddFigure(row, site.peak, site.variances.peak, estimated);
    AddFigure(row, site.leaked, site.variances.leaked, estimated);
    AddFigure(row, site.total, site.variances.total, estimated);
    row.push_back(fmt::format("{}", fmt::join(stack, " < ")));
    text += CsvLine(row);
  }
  return text;
}

}  // namespace memprof
