#include "cli/live/served_source.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/http/base64.h"
#include "cli/http/http_engine.h"
#include "formats/capture/capture_reader.h"

namespace memprof {
namespace {

using JsonTree = nlohmann::json;

std::string WithRun(std::string path, const std::string& run) {
  if (!run.empty()) path += (path.find('?') == std::string::npos ? "?run=" : "&run=") + run;
  return path;
}

std::string InQuery(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    fmt::format_to(std::back_inserter(escaped), "%{:02X}", static_cast<unsigned char>(c));
  return escaped;
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, std::min<size_t>(text.find('\n'), 200));
}

// A number or text of the answer; what is missing or of another type is nothing.
template <typename Value>
Value ValueOf(const JsonTree& json, const char* name) {
  const auto at = json.find(name);
  if (at == json.end()) return {};
  if constexpr (std::is_same_v<Value, std::string>) {
    return at->is_string() ? at->template get<std::string>() : std::string();
  } else if constexpr (std::is_same_v<Value, bool>) {
    return at->is_boolean() && at->template get<bool>();
  } else {
    return at->is_number_integer() ? at->template get<Value>() : Value();
  }
}

}  // namespace

Result<LiveReading> ParseServedRun(const std::string& answer) {
  const JsonTree json = JsonTree::parse(answer, nullptr, false);
  if (!json.is_object() || ValueOf<int>(json, "schema") != 1 || !json.contains("processes") ||
      !json["processes"].is_array()) {
    return Fail(ErrorKind::kIo, "what it answers is no look of memprof's; is it another server?");
  }
  LiveReading reading;
  reading.run.program = ValueOf<pid_t>(json, "pid");
  reading.run.supervisor = ValueOf<pid_t>(json, "supervisor");
  reading.run.capture = ValueOf<std::string>(json, "capture");
  reading.run.living = ValueOf<uint32_t>(json, "living");
  reading.ended = ValueOf<bool>(json, "ended");
  for (const JsonTree& each : json["processes"]) {
    if (!each.is_object() || reading.processes.size() == kMostShownProcesses) continue;
    const auto bytes = FromBase64(ValueOf<std::string>(each, "figures"));
    if (!bytes) continue;
    auto content = DecodeCapture(*bytes);
    if (!content) continue;
    const std::vector<SnapshotFrame> frames = content->snapshot.frames;
    LiveProcess process = {ValueOf<pid_t>(each, "pid"), ValueOf<std::string>(each, "program"),
                           Canonical(std::move(content->snapshot)),
                           ValueOf<uint64_t>(each, "rss_bytes"), std::move(content->symbols)};
    // The names are those of the frames in the capture's order.
    if (process.snapshot->frames != frames) process.symbols = StoredSymbols();
    ShownProcess shown;
    shown.pid = process.pid;
    shown.program = process.program;
    shown.start_unix_ms = ValueOf<int64_t>(each, "start_unix_ms");
    reading.run.processes.push_back(std::move(shown));
    reading.processes.push_back(std::move(process));
  }
  return reading;
}

Result<LiveReading> ReadServedRun(const ServedPlace& served, const std::string& token) {
  const auto engine = HttpEngine::Load();
  if (!engine) return tl::unexpected<Error>(engine.error());
  auto answer = (*engine)->Ask("GET", served.place, WithRun("/live", served.run), token, {});
  if (!answer) return tl::unexpected<Error>(answer.error());
  if (answer->status != 200) {
    const std::string hint =
        answer->status == 401 ? fmt::format("; {} has it", kTokenVariable) : std::string();
    return Fail(ErrorKind::kIo,
                fmt::format("it answers {}: {}{}", answer->status, FirstLine(answer->body), hint));
  }
  return ParseServedRun(answer->body);
}

Result<FoundRun> FindServedRun(const std::string& target) {
  auto served = ParseServedPlace(target);
  if (!served) return tl::unexpected<Error>(served.error());
  FoundRun found = {};
  found.served = std::move(*served);
  if (const char* token = std::getenv(kTokenVariable); token != nullptr) found.token = token;
  auto reading = ReadServedRun(*found.served, found.token);
  if (!reading) return Fail(reading.error().kind, target + ": " + reading.error().message);
  found.run = std::move(reading->run);
  // A run that follows on the same server is another one.
  found.served->run = std::to_string(found.run.program);
  return found;
}

std::string TakeServedMoment(const ServedPlace& served, const std::string& token,
                             const std::string& name, bool* taken) {
  std::string path = WithRun("/snapshots", served.run);
  if (!name.empty()) path += (served.run.empty() ? "?name=" : "&name=") + InQuery(name);
  HttpAskLimits limits;
  limits.time = kControlTimeout;
  const auto engine = HttpEngine::Load();
  if (!engine) return "no snapshot: " + engine.error().message;
  const auto answer = (*engine)->Ask("POST", served.place, path, token, limits);
  if (taken != nullptr) *taken = answer && answer->status == 200;
  if (!answer) return "no snapshot: " + answer.error().message;
  const std::string line = FirstLine(answer->body);
  return answer->status == 200 || line.starts_with("no snapshot") ? line : "no snapshot: " + line;
}

}  // namespace memprof
