// An identity service. Tokens are valid for twelve seconds, so the cache of them fills for that
// long and stays at its size from then on; requests come at random.
//
// shape: cache with a time to live: fills for a quarter of the run, then a noisy plateau
// leaks: none
// harmless: IssueToken, CheckPassword
// runs: small medium large
#include <deque>
#include <string>
#include <unordered_map>

#include "load.h"

struct Token {
  std::string user;
  std::string claims;
};

class Tokens {
 public:
  void IssueToken(load::Random& random, double now) {
    const std::uint64_t id = random();
    tokens_[id] = {"user" + std::to_string(random.Below(1000)) + "@example.org",
                   std::string(random.Between(50, 400), 'c')};
    expiry_.emplace_back(now + 12, id);
  }
  void Expire(double now) {
    while (!expiry_.empty() && expiry_.front().first < now) {
      tokens_.erase(expiry_.front().second);
      expiry_.pop_front();
    }
  }

 private:
  std::unordered_map<std::uint64_t, Token> tokens_;
  std::deque<std::pair<double, std::uint64_t>> expiry_;
};

std::vector<std::uint64_t> CheckPassword() { return std::vector<std::uint64_t>(2048, 1); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 50);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 50.0));
  Tokens tokens;
  load::Random random(751);
  load::Arrivals logins(run, 752);
  while (run.Next()) {
    for (unsigned n = logins.Due(run.Pick(5.0, 150.0, 4000.0)); n > 0; --n) {
      tokens.IssueToken(random, run.Seconds());
      if (n % 8 == 0) CheckPassword();
    }
    tokens.Expire(run.Seconds());
  }
}
