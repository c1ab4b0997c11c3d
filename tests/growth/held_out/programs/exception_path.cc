// A configuration service that makes an object by plain new, then validates its input, which throws
// for one request in thirty. Whoever catches has no pointer to it any more.
//
// shape: leak on the path of an exception
// leaks: MakeTenant
// harmless: ReadBody
// runs: small medium large
#include <memory>
#include <stdexcept>
#include <string>

#include "load.h"

struct Tenant {
  std::string name;
  std::vector<std::string> domains;
};

std::string ReadBody(load::Random& random) { return std::string(random.Between(5, 3000), '{'); }

void Validate(const Tenant& tenant) {
  if (tenant.name[0] == '!') throw std::invalid_argument("name");
}

Tenant* MakeTenant(load::Random& random, bool broken, std::uint64_t domains) {
  auto* tenant = new Tenant;
  tenant->name.assign(random.Between(20, 80), broken ? '!' : 'n');
  for (std::uint64_t i = 0; i < domains; ++i) tenant->domains.emplace_back(30, 'd');
  Validate(*tenant);
  return tenant;
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 32);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 100.0));
  std::vector<std::unique_ptr<Tenant>> tenants(run.Pick(20, 400, 4000));
  load::Random random(371);
  load::Arrivals requests(run, 372);
  std::size_t failed = 0;
  while (run.Next()) {
    for (unsigned n = requests.Due(run.Pick(60.0, 500.0, 8000.0)); n > 0; --n) {
      try {
        const std::string body = ReadBody(random);
        auto& tenant = tenants[random.Below(tenants.size())];
        tenant.reset(MakeTenant(random, random.Below(30) == 0, body.size() % 10));
      } catch (const std::invalid_argument&) {
        ++failed;
      }
    }
  }
  return failed == 1;
}
