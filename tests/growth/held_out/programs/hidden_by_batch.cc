// A billing engine. Every six seconds it builds all invoices of a day in memory and frees them; of
// each batch, some late payers' reminders stay, in a list that is never emptied.
//
// shape: leak hidden below a big saw-tooth
// leaks: AddReminder
// harmless: BuildInvoice
// runs: small medium large
#include <list>
#include <memory>
#include <string>

#include "load.h"

struct Invoice {
  std::string address;
  std::vector<double> positions;
};

std::unique_ptr<Invoice> BuildInvoice(load::Random& random) {
  auto invoice = std::make_unique<Invoice>();
  invoice->address.assign(random.Between(40, 160), 'a');
  invoice->positions.assign(random.Between(1, 40), 9.99);
  return invoice;
}

class Billing {
 public:
  void AddReminder(std::size_t bytes) { reminders_.emplace_back(bytes, 'r'); }

 private:
  std::list<std::string> reminders_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 54);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 20.0));
  Billing billing;
  load::Random random(261);
  load::Arrivals invoices(run, 262);
  std::vector<std::unique_ptr<Invoice>> batch;
  int day = 0;
  while (run.Next()) {
    if (const int today = static_cast<int>(run.Seconds() / 6); today != day) {
      day = today;
      batch.clear();
    }
    for (unsigned n = invoices.Due(run.Pick(1000.0, 5000.0, 40000.0)); n > 0; --n) {
      batch.push_back(BuildInvoice(random));
      if (random.Chance(run.Pick(0.001, 0.008, 0.05))) billing.AddReminder(random.Between(60, 300));
    }
  }
}
