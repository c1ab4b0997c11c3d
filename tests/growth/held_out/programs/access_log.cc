// A web server that keeps the request line of each request "for statistics". Nobody ever reads or
// trims the list. Sessions are kept in an LRU cache of fixed size, and headers live as long as
// their request.
//
// shape: steady leak per request, beside an LRU cache that fills
// leaks: RecordRequest
// harmless: TouchSession, ParseHeaders
// runs: small medium large
#include <list>
#include <map>
#include <string>
#include <unordered_map>

#include "load.h"

struct Session {
  std::string user;
  std::string csrf_token;
};

class Server {
 public:
  explicit Server(std::size_t sessions) : max_sessions_(sessions) {}

  void Handle(load::Random& random, bool statistics) {
    const auto headers = ParseHeaders(random);
    TouchSession(random.Below(max_sessions_ * 3));
    if (statistics) RecordRequest(random.Below(10000), headers.size());
  }

 private:
  static std::map<std::string, std::string> ParseHeaders(load::Random& random) {
    std::map<std::string, std::string> headers;
    for (std::uint64_t i = 0, n = random.Between(3, 8); i < n; ++i) {
      headers["X-Custom-Header-" + std::to_string(i)] = std::string(random.Between(4, 60), 'v');
    }
    return headers;
  }

  void TouchSession(std::uint64_t id) {
    if (const auto found = by_id_.find(id); found != by_id_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return;
    }
    recent_.emplace_front(
        id, Session{"user-" + std::to_string(id) + "@example.org", std::string(40, 't')});
    by_id_[id] = recent_.begin();
    if (recent_.size() > max_sessions_) {
      by_id_.erase(recent_.back().first);
      recent_.pop_back();
    }
  }

  void RecordRequest(std::uint64_t page, std::size_t headers) {
    lines_.push_back("GET /articles/" + std::to_string(page) +
                     "?headers=" + std::to_string(headers) + " HTTP/1.1");
  }

  std::size_t max_sessions_;
  std::list<std::pair<std::uint64_t, Session>> recent_;
  std::unordered_map<std::uint64_t, std::list<std::pair<std::uint64_t, Session>>::iterator> by_id_;
  std::list<std::string> lines_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 32, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 8.0, 60.0));
  Server server(run.Pick(200, 2000, 10000));
  load::Random random(11);
  load::Arrivals requests(run, 12);
  const double rate = run.Pick(200.0, 600.0, 12000.0);
  const double sampled = run.Pick(0.02, 0.2, 0.5);
  while (run.Next()) {
    for (unsigned n = requests.Due(rate); n > 0; --n) server.Handle(random, random.Chance(sampled));
  }
}
