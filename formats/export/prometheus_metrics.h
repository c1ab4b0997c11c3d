// A snapshot's figures as metrics in Prometheus' text format 0.0.4, for node_exporter's textfile
// collector or any scraper of files:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
//
// Each metric has the labels program and pid. Thread safety: pure.
#pragma once

#include <span>
#include <string>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string MetricsText(const Snapshot& snapshot);
// Of several processes: each metric is described once. `snapshots` aren't null.
std::string MetricsText(std::span<const Snapshot* const> snapshots);

}  // namespace memprof
