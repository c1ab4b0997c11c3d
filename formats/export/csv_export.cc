// One row a site with all its figures, for spreadsheets and databases. RFC 4180, with a header.

#include <fmt/format.h>

#include <vector>

#include "core/tree/path_to_root.h"
#include "formats/export/csv_line.h"
#include "formats/export/exporters.h"

namespace memprof {

std::string ExportCsv(const Profile& profile, const ExportOptions&) {
  const bool estimated = profile.tracker.sample_bytes != 0;
  std::vector<std::string> row = {"function", "file", "line", "module", "thread"};
  constexpr Figure kFigures[] = {Figure::kPeak, Figure::kLeaked, Figure::kTotal};
  for (const Figure figure : kFigures) AddFigureHeading(row, figure, estimated);
  row.push_back("stack");  // innermost first
  std::string text = CsvLine(row);
  for (const ProfileSite& site : profile.sites) {
    const ProfileFrame none;
    const ProfileFrame& leaf =
        site.node != 0 ? profile.frames[profile.nodes[site.node].frame] : none;
    std::vector<std::string> stack;
    for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
      stack.push_back(profile.frames[profile.nodes[node].frame].function);
    }
    row = {leaf.function, leaf.file, leaf.line != 0 ? fmt::format("{}", leaf.line) : "",
           leaf.module < profile.modules.size() ? profile.modules[leaf.module].path : "",
           profile.thread_names[site.thread_name]};
    for (const Figure figure : kFigures) {
      AddFigureFields(row, FigureOf(site, figure), FigureOf(site.variances, figure), estimated);
    }
    row.push_back(fmt::format("{}", fmt::join(stack, " < ")));
    text += CsvLine(row);
  }
  return text;
}

}  // namespace memprof
