// A snapshot's figures as metrics in Prometheus' text format 0.0.4, for node_exporter's textfile
// collector or any scraper of files:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
//
// Each metric has the labels program and pid. Thread safety: pure.
#pragma once

#include <string>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string MetricsText(const Snapshot& snapshot);

}  // namespace memprof
