// A client of remote calls. A call's completion holds the call itself, by shared_ptr in a
// std::function that the call owns; answers reset it, but calls that are given up keep their cycle.
//
// shape: shared_ptr cycles through callbacks, for some calls only
// leaks: StartCall
// harmless: Serialize
// runs: small medium large
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "load.h"

struct Call {
  std::string method;
  std::vector<char> arguments;
  std::function<std::size_t()> completed;
};

std::vector<char> Serialize(load::Random& random, std::size_t most) {
  return std::vector<char>(random.Between(10, most), 's');
}

std::shared_ptr<Call> StartCall(const std::vector<char>& arguments) {
  auto call = std::make_shared<Call>();
  call->method = "/example.inventory.Inventory/Reserve";
  call->arguments = arguments;
  call->completed = [call] { return call->arguments.size(); };
  return call;
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 34);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  load::Random random(921);
  load::Arrivals calls(run, 922);
  std::deque<std::shared_ptr<Call>> open;
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = calls.Due(run.Pick(50.0, 1000.0, 20000.0)); n > 0; --n) {
      open.push_back(StartCall(Serialize(random, run.Pick(80, 400, 1500))));
      if (open.size() < 40) continue;
      const auto call = open.front();
      open.pop_front();
      sum += call->completed();
      if (!random.Chance(run.Pick(0.04, 0.02, 0.05))) call->completed = nullptr;
    }
  }
  return sum == 1;
}
