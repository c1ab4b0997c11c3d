// Exporters: write a profile in another tool's format. Each exporter is a file, and a line in the
// table.
//
// Thread safety: pure. The same profile gives the same bytes.
// Invariant: the exported figures sum to the profile's totals.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/figure.h"
#include "core/profile/profile.h"

namespace memprof {

struct ExportOptions {
  // for formats with a single figure; only folded can have kTemporary
  Figure figure = Figure::kPeak;
  bool history = false;  // json: adds each site's live figures at the moments
  // json: frames and stacks once each, in tables that the sites refer to
  bool stack_table = false;
};

struct Exporter {
  std::string_view name;
  std::string_view extension;
  bool binary;  // binary bytes: never written to a terminal
  std::string (*write)(const Profile& profile, const ExportOptions& options);
};

std::span<const Exporter> Exporters();
const Exporter* FindExporter(std::string_view name);

std::string ExportJson(const Profile& profile, const ExportOptions& options);
std::string ExportFolded(const Profile& profile, const ExportOptions& options);
std::string ExportCsv(const Profile& profile, const ExportOptions& options);
std::string ExportSpeedscope(const Profile& profile, const ExportOptions& options);
std::string ExportPprof(const Profile& profile, const ExportOptions& options);
std::string ExportMassif(const Profile& profile, const ExportOptions& options);
std::string ExportDhat(const Profile& profile, const ExportOptions& options);

}  // namespace memprof
