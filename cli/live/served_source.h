// Reads a run that a server of memprof's shows over HTTP (cli/serve/live_json.h): the same reading as
// of a run of this machine, with the server's names.
//
// Thread safety: pure, but for the network. Security: the server is not trusted; its figures are read by
// the reader of captures. Failure: one line.
#pragma once

#include <string>

#include "cli/http/http_place.h"
#include "cli/live/live_source.h"

namespace memprof {

// Pre: IsServedPlace(target). The token is taken from the environment.
Result<FoundRun> FindServedRun(const std::string& target);

Result<LiveReading> ReadServedRun(const ServedPlace& served, const std::string& token);
// The same from what the server answered.
Result<LiveReading> ParseServedRun(const std::string& answer);

// Asks the server for a named moment; returns what to say of it.
std::string TakeServedMoment(const ServedPlace& served, const std::string& token,
                             const std::string& name, bool* taken);

}  // namespace memprof
