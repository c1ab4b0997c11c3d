// memprof serve: shows runs over HTTP: the heap profile that other systems scrape, metrics, and the page.

#include <fmt/format.h>
#include <sys/signalfd.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/serve_options.h"
#include "cli/serve/serve.h"
#include "cli/serve/server_process.h"
#include "cli/terminal/output.h"

namespace memprof {
namespace {

struct ServeOptions {
  std::vector<std::string> targets;
  ServeFlags flags;
};

// For the run that started this process.
int ServeBeside(const ServeOptions& options, ServerInheritance inherited) {
  // The listener's own URL is no address to listen on.
  const std::string at = inherited.url.substr(inherited.url.starts_with("http://") ? 7 : 0);
  const auto address = ParseListenAddress(at);
  if (!address) return ExitStatusOf(address.error());
  auto token = ReadToken({});
  if (!token) return ExitStatusOf(token.error());
  const auto engine = HttpEngine::Load();
  if (!engine) return ExitStatusOf(engine.error());
  StepBack();
  ServedRuns runs;
  runs.AddSupervisor(inherited.supervisor);
  const Listener listener(std::move(inherited.listener), inherited.url, address->socket);
  Serve(**engine, runs, RulesFor(*address, options.flags.hosts, std::move(*token)), listener,
        inherited.end.get());
  return kExitFine;
}

int ServeRuns(const ServeOptions& options) {
  auto inherited = TakeInheritance();
  if (!inherited) return ExitStatusOf(inherited.error());
  if (*inherited) return ServeBeside(options, std::move(**inherited));
  if (options.flags.address.empty()) {
    return ExitStatusOf({ErrorKind::kUsage, "--listen is missing; try: --listen 127.0.0.1:0"});
  }
  auto plan = ReadServeFlags(options.flags, "--listen");
  if (!plan) return ExitStatusOf(plan.error());
  const auto engine = HttpEngine::Load();
  if (!engine) return ExitStatusOf(engine.error());
  // Before there are threads, so that all of them leave these signals to the descriptor.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const ScopedFd stop(signalfd(-1, &ends, SFD_CLOEXEC));
  ServedRuns runs;
  std::vector<std::string> targets = options.targets;
  if (targets.empty()) targets.emplace_back();  // the only run there is
  for (const std::string& target : targets) {
    if (const auto added = runs.Add(target); !added) return ExitStatusOf(added.error());
  }
  auto listener = Listener::Open(plan->address);
  if (!listener) return ExitStatusOf(listener.error());
  if (const int status = WriteOutput({}, listener->url() + "\n"); status != kExitFine)
    return status;
  Serve(**engine, runs, plan->rules, *listener, stop.get());
  return kExitFine;
}

}  // namespace

CommandBody SetUpServe(Arguments& arguments) {
  auto options = std::make_shared<ServeOptions>();
  arguments
      .Add("runs", options->targets,
           "The programs' pids, those of their memprof run, or captures, also of runs that are to "
           "come "
           "(default: the only run there is)")
      .TypeName("PID|CAPTURE");
  AddServeOptions(arguments, "--listen",
                  "Where to listen: 127.0.0.1:9090, [::1]:0 (any free port), or unix:/path",
                  options->flags);
  return [options] { return ServeRuns(*options); };
}

}  // namespace memprof
