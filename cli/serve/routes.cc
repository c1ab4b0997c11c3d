#include "cli/serve/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/http/base64.h"
#include "cli/reports/exactness.h"
#include "cli/reports/statistics.h"
#include "cli/serve/live_json.h"
#include "cli/web/page.h"
#include "core/snapshot/moment_choice.h"
#include "formats/capture/capture_reader.h"
#include "formats/export/go_heap_profile.h"
#include "formats/export/prometheus_metrics.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kMostWaiting = 16;
constexpr int kMostStreams = 32;
constexpr unsigned long kMostSeconds = 300;
constexpr std::chrono::milliseconds kSlice{100};
constexpr std::chrono::seconds kBetweenEvents{1};
constexpr std::chrono::seconds kHeartbeat{10};
// A page that is fetched again and again is kept smaller than one that is written once.
constexpr size_t kLiveDataBytes = 2'000'000;

constexpr char kIndex[] =
    "memprof: what holds the memory of a program that runs\n\n"
    "/                          the flame graph, kept up to date\n"
    "/debug/pprof/heap          the heap profile, as a Go program's; ?seconds=N the difference, "
    "?debug=1 text\n"
    "/debug/pprof/allocs        the same, what was allocated in all first\n"
    "/metrics                   for Prometheus\n"
    "/capture                   a capture, for memprof's reports\n"
    "/snapshots                 the named snapshots; POST ?name=NAME takes one\n"
    "/live                      for memprof top\n"
    "/healthz                   ok\n";

HttpResponse Text(int status, std::string text) {
  HttpResponse response;
  response.status = status;
  response.body = MakeBody(std::move(text) + "\n");
  return response;
}

HttpResponse Of(std::string type, HttpBody body) {
  HttpResponse response;
  response.type = std::move(type);
  response.body = std::move(body);
  return response;
}

HttpResponse NothingYet() {
  HttpResponse response = Text(503,
                               "nothing counts yet: the program has not begun, or has ended "
                               "without figures");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse TooMany(const char* what) {
  HttpResponse response = Text(503, fmt::format("too many {}; try again later", what));
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

// Counts a request while it goes on. False: there are too many.
class Place {
 public:
  Place(std::atomic<int>& count, int most) : count_(count), taken_(++count <= most) {}
  ~Place() { --count_; }
  Place(const Place&) = delete;
  explicit operator bool() const { return taken_; }

 private:
  std::atomic<int>& count_;
  const bool taken_;
};

// A whole number of at most `most`, `fallback` if it isn't given; unset: it is something else.
std::optional<unsigned long> Number(const HttpRequest& request, const std::string& name,
                                    unsigned long fallback, unsigned long most) {
  if (request.query.count(name) == 0) return fallback;
  const std::string text = request.Query(name).value_or("");
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos || std::stoul(text) > most) {
    return std::nullopt;
  }
  return std::stoul(text);
}

constexpr unsigned long kMostPid = 999'999'999;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool IsFileName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// What the live page shows: all the processes of all runs.
std::optional<std::pair<Profile, PageOptions>> PageOf(const ServedLook& look, pid_t only) {
  if (look.Processes(only).empty()) return std::nullopt;
  auto profile = look.Merged(only);
  if (!profile) return std::nullopt;
  PageOptions page;
  page.mode = Figure::kLeaked;
  page.capture = profile->program.program;
  page.warnings = ExactnessNotes(*profile);
  page.statistics = StatisticsOf(*profile);
  page.max_data_bytes = kLiveDataBytes;
  return std::make_pair(std::move(*profile), std::move(page));
}

Json StateOf(const ServedLook& look) {
  Json state = {{"look", look.number()}, {"runs", Json::array()}};
  for (const ServedRunLook& run : look.runs()) {
    uint64_t live = 0;
    for (const ServedProcess& process : run.processes) live += SumLeaked(process.snapshot).bytes;
    state["runs"].push_back(
        {{"pid", run.program}, {"ended", run.ended}, {"living", run.living}, {"live_bytes", live}});
  }
  return state;
}

}  // namespace

HttpResponse Routes::Answer(const HttpRequest& request) {
  HttpResponse response;
  if (auto refused = RefuseRequest(rules_, request)) {
    response = std::move(*refused);
  } else if (request.method == "GET" || request.method == "HEAD") {
    response = Get(request);
  } else if (request.method == "POST" && request.path == "/snapshots") {
    response = TakeSnapshot(request);
  } else {
    response = Text(405, "GET, or POST to /snapshots");
    response.headers.emplace_back("Allow", "GET, HEAD");
  }
  for (const auto& [name, value] : {std::pair("Cache-Control", "no-store"),
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"X-Frame-Options", "DENY"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"}}) {
    response.headers.emplace_back(name, value);
  }
  return response;
}

HttpResponse Routes::Get(const HttpRequest& request) {
  const std::string& path = request.path;
  if (path == "/") return Page(request, false);
  if (path == "/page-data") return Page(request, true);
  if (path == "/events") return Events();
  if (path == "/debug/pprof/heap") return Heap(request, false);
  if (path == "/debug/pprof/allocs") return Heap(request, true);
  if (path == "/metrics") return Metrics(request);
  if (path == "/capture") return Capture(request);
  if (path == "/snapshots") return Snapshots();
  if (path == "/live") return Live(request);
  if (path == "/healthz") return Text(200, "ok");
  if (path == "/debug/pprof/" || path == "/debug/pprof" || path == "/help")
    return Text(200, kIndex);
  return Text(404, "there is nothing here; /help lists what there is");
}

HttpResponse Routes::Heap(const HttpRequest& request, bool allocs) {
  const auto seconds = Number(request, "seconds", 0, kMostSeconds);
  if (!seconds)
    return Text(400, fmt::format("seconds: a whole number of at most {}", kMostSeconds));
  const auto only = Number(request, "process", 0, kMostPid);
  if (!only) return Text(400, "process: a pid");
  const bool text = request.Query("debug").value_or("0") != "0";
  if (text && *seconds != 0) return Text(400, "seconds has no text; leave debug out");
  const auto pid = static_cast<pid_t>(*only);
  GoHeapOptions options;
  options.allocs = allocs;
  options.threads = request.Query("threads") == "1";
  auto look = runs_.Look();
  if (look->Processes(pid).empty()) return NothingYet();
  if (text) {
    return Of("text/plain; charset=utf-8", look->Once(fmt::format("text {}", pid), [&] {
      return MakeBody(GoHeapText(look->Profiles(pid)));
    }));
  }
  HttpBody body;
  if (*seconds == 0) {
    options.time_ns = look->time_ns();
    const std::string key = fmt::format("heap {} {} {}", pid, allocs, options.threads);
    body =
        look->Once(key, [&] { return MakeBody(GoHeapProfile(look->Profiles(pid), {}, options)); });
  } else {
    const Place place(waiting_, kMostWaiting);
    if (!place) return TooMany("requests for a difference");
    const auto end = Clock::now() + std::chrono::seconds(*seconds);
    while (Clock::now() < end) {
      std::this_thread::sleep_for(std::min<Clock::duration>(kSlice, end - Clock::now()));
      if (request.abandoned && request.abandoned()) {
        return Text(503, "the connection was closed, or the server ends");
      }
    }
    const auto before = look;
    while (look->number() == before->number()) {
      look = runs_.Look();
      if (look->number() == before->number()) std::this_thread::sleep_for(kSlice);
    }
    options.time_ns = look->time_ns();
    options.duration_ns = static_cast<uint64_t>(look->time_ns() - before->time_ns());
    body = MakeBody(GoHeapProfile(look->Profiles(pid), before->Profiles(pid), options));
  }
  HttpResponse response = Of("application/octet-stream", std::move(body));
  response.headers.emplace_back("Content-Disposition",
                                fmt::format("attachment; filename=\"{}{}\"",
                                            allocs ? "allocs" : "heap", *seconds ? "-delta" : ""));
  return response;
}

HttpResponse Routes::Metrics(const HttpRequest& request) {
  const auto only = Number(request, "process", 0, kMostPid);
  if (!only) return Text(400, "process: a pid");
  const auto look = runs_.Look();
  const auto pid = static_cast<pid_t>(*only);
  return Of("text/plain; version=0.0.4; charset=utf-8",
            look->Once(fmt::format("metrics {}", pid), [&] {
              std::vector<const Snapshot*> snapshots;
              for (const ServedProcess* process : look->Processes(pid)) {
                snapshots.push_back(&process->snapshot);
              }
              return MakeBody(MetricsText(snapshots));
            }));
}

HttpResponse Routes::Capture(const HttpRequest& request) {
  const auto only = Number(request, "process", 0, kMostPid);
  if (!only) return Text(400, "process: a pid");
  const auto look = runs_.Look();
  const auto pid = static_cast<pid_t>(*only);
  const auto processes = look->Processes(pid);
  if (processes.empty()) return NothingYet();
  std::string why;
  const HttpBody body = look->Once(fmt::format("capture {}", pid), [&]() -> HttpBody {
    auto bytes = look->Capture(pid);
    if (!bytes) {
      why = bytes.error().message;
      return nullptr;
    }
    return MakeBody(std::move(*bytes));
  });
  if (body == nullptr) return Text(500, "no capture: " + why);
  HttpResponse response = Of("application/octet-stream", body);
  std::string name = processes[0]->program;
  for (char& c : name) c = IsFileName(c) ? c : '_';
  response.headers.emplace_back("Content-Disposition",
                                "attachment; filename=\"" + name + ".memprof\"");
  return response;
}

HttpResponse Routes::Page(const HttpRequest& request, bool data_only) {
  const auto only = Number(request, "process", 0, kMostPid);
  if (!only) return Text(400, "process: a pid");
  const auto look = runs_.Look();
  const auto pid = static_cast<pid_t>(*only);
  const HttpBody body =
      look->Once(fmt::format("{} {}", data_only ? "data" : "page", pid), [&]() -> HttpBody {
        const auto page = PageOf(*look, pid);
        if (!page) return nullptr;
        return MakeBody(data_only ? PageData(page->first, page->second)
                                  : MakeLivePage(page->first, page->second));
      });
  if (body == nullptr) return NothingYet();
  HttpResponse response = Of(data_only ? "application/json" : "text/html; charset=utf-8", body);
  response.headers.emplace_back("X-Memprof-Look", std::to_string(look->number()));
  return response;
}

HttpResponse Routes::Events() {
  auto place = std::make_shared<Place>(streams_, kMostStreams);
  if (!*place) return TooMany("pages that are kept up to date");
  HttpResponse response;
  response.type = "text/event-stream";
  response.stream = [this, place](const HttpResponse::Write& write) {
    if (!write("retry: 1000\n\n")) return;
    uint64_t last = 0;
    bool said_end = false;
    auto next_heartbeat = Clock::now() + kHeartbeat;
    for (;;) {
      const auto look = runs_.Look();
      // The looks at ended runs are all the same.
      const bool ended = std::all_of(look->runs().begin(), look->runs().end(),
                                     [](const ServedRunLook& run) { return run.ended; });
      if (look->number() != last && !(ended && said_end)) {
        if (!write("event: look\ndata: " + Dump(StateOf(*look)) + "\n")) return;
        said_end = ended;
        last = look->number();
        next_heartbeat = Clock::now() + kHeartbeat;
      } else if (Clock::now() >= next_heartbeat) {
        if (!write(": still here\n\n")) return;
        next_heartbeat = Clock::now() + kHeartbeat;
      }
      const auto end = Clock::now() + kBetweenEvents;
      while (Clock::now() < end) {
        std::this_thread::sleep_for(kSlice);
        if (!write("")) return;
      }
    }
  };
  return response;
}

HttpResponse Routes::Live(const HttpRequest& request) {
  const auto only = Number(request, "run", 0, kMostPid);
  if (!only) return Text(400, "run: a pid");
  const auto look = runs_.Look();
  const ServedRunLook* chosen = nullptr;
  for (const ServedRunLook& run : look->runs()) {
    if (*only != 0 && run.program != static_cast<pid_t>(*only)) continue;
    if (chosen != nullptr) {
      return Text(409, "several runs are served here; append ?run=PID to the address");
    }
    chosen = &run;
  }
  if (chosen == nullptr) return Text(404, "there is no such run here");
  if (chosen->program == 0) return NothingYet();
  return Of("application/json", look->Once(fmt::format("live {}", *only),
                                           [&] { return MakeBody(LiveJsonOf(*chosen)); }));
}

HttpResponse Routes::Snapshots() {
  Json json = {{"schema", 1}, {"runs", Json::array()}};
  for (const ServedRunLook& run : runs_.Look()->runs()) {
    Json snapshots = Json::array();
    const auto bytes = ReadCaptureFile(run.capture);
    if (bytes) {
      if (const auto content = DecodeCapture(*bytes)) {
        for (const NamedMoment& moment : content->snapshot.named.taken) {
          snapshots.push_back({{"name", moment.name}, {"time_ms", moment.time_ms}});
        }
      }
    }
    json["runs"].push_back(
        {{"pid", run.program}, {"capture", run.capture}, {"snapshots", std::move(snapshots)}});
  }
  return Of("application/json", MakeBody(Dump(json)));
}

HttpResponse Routes::TakeSnapshot(const HttpRequest& request) {
  const auto only = Number(request, "run", 0, kMostPid);
  if (!only) return Text(400, "run: a pid");
  const std::string name = request.Query("name").value_or("");
  if (!name.empty()) {
    const auto moment = ParseMoment(name);
    if (!IsMomentName(name) || MomentName(name, {}) != name ||
        (moment && moment->kind == MomentSelector::Kind::kTime)) {
      return Text(400, "name: 1 to 60 characters, no '/' or '@', no time, not peak or end");
    }
  }
  const Place place(waiting_, kMostWaiting);
  if (!place) return TooMany("requests for a snapshot");
  const auto moment = runs_.TakeMoment(static_cast<pid_t>(*only), name);
  return Text(moment.taken ? 200 : 409, moment.text);
}

}  // namespace memprof
