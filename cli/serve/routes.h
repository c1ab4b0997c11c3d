// Routes: what a server answers for the runs that it serves. docs/live.md lists the paths.
//
// Thread safety: any thread. The looks are shared; requests that wait are counted and bounded.
#pragma once

#include <atomic>
#include <string>

#include "cli/http/http_server.h"
#include "cli/serve/access.h"
#include "cli/serve/served_runs.h"

namespace memprof {

class Routes {
 public:
  Routes(ServedRuns& runs, AccessRules rules) : runs_(runs), rules_(std::move(rules)) {}

  HttpResponse Answer(const HttpRequest& request);

 private:
  HttpResponse Get(const HttpRequest& request);
  HttpResponse Heap(const HttpRequest& request, bool allocs);
  HttpResponse Metrics(const HttpRequest& request);
  HttpResponse Capture(const HttpRequest& request);
  HttpResponse Page(const HttpRequest& request, bool data_only);
  HttpResponse Events();
  HttpResponse Live(const HttpRequest& request);
  HttpResponse Snapshots();
  HttpResponse TakeSnapshot(const HttpRequest& request);

  ServedRuns& runs_;
  const AccessRules rules_;
  std::atomic<int> waiting_ = 0;  // requests for a difference
  std::atomic<int> streams_ = 0;  // pages that are kept up to date
};

}  // namespace memprof
