#include "cli/serve/served_look.h"

#include <utility>

#include "cli/symbols/report_symbolizer.h"
#include "formats/capture/capture_merger.h"

namespace memprof {
namespace {

SymbolOptions StoredNamesOnly() {
  SymbolOptions options;
  options.no_binaries = true;
  options.says_stored = false;
  return options;
}

Profile ProfileOf(Snapshot snapshot, const StoredSymbols& symbols) {
  ReportSymbolizer names(symbols, StoredNamesOnly());
  return MakeProfile(std::move(snapshot), names);
}

}  // namespace

std::vector<const ServedProcess*> ServedLook::Processes(pid_t only) const {
  std::vector<const ServedProcess*> processes;
  for (const ServedRunLook& run : runs_) {
    for (const ServedProcess& process : run.processes) {
      if (only == 0 || process.pid == only) processes.push_back(&process);
    }
  }
  return processes;
}

std::vector<Profile> ServedLook::Profiles(pid_t only) const {
  std::vector<Profile> profiles;
  for (const ServedProcess* process : Processes(only)) {
    profiles.push_back(ProfileOf(process->snapshot, process->symbols));
  }
  return profiles;
}

namespace {

Result<MergedCapture> MergeOf(const std::vector<const ServedProcess*>& processes) {
  CaptureMerger merger;
  for (const ServedProcess* process : processes) {
    CaptureContent content;
    content.snapshot = process->snapshot;
    content.symbols = process->symbols;
    if (const auto added = merger.Add(std::move(content)); !added) {
      return tl::unexpected<Error>(added.error());
    }
  }
  return merger.Take();
}

}  // namespace

Result<std::string> ServedLook::Capture(pid_t only) const {
  const auto merge = MergeOf(Processes(only));
  if (!merge) return tl::unexpected<Error>(merge.error());
  return EncodeMerge(*merge);
}

Result<Profile> ServedLook::Merged(pid_t only) const {
  auto merge = MergeOf(Processes(only));
  if (!merge) return tl::unexpected<Error>(merge.error());
  return ProfileOf(std::move(merge->snapshot).Take(), merge->symbols);
}

HttpBody ServedLook::Once(const std::string& key, const std::function<HttpBody()>& make) const {
  const MutexLock lock(mutex_);
  HttpBody& body = made_[key];
  if (body != nullptr) return body;
  const auto begin = std::chrono::steady_clock::now();
  body = make();
  cost_ns_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return body;
}

}  // namespace memprof
