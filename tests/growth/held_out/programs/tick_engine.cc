// A trading engine at a million allocations a second: ticks, quotes, and order book levels, nearly
// all of which live for microseconds. One tick in fifty thousand has an unknown symbol, whose
// object stays.
//
// shape: very rare leak beside a very high rate of temporaries
// leaks: AddSymbol
// harmless: MakeTick, MakeQuote
// runs: small medium
#include <memory>

#include "load.h"

struct Tick {
  std::uint64_t symbol;
  double price;
};

struct Quote {
  double bid;
  double ask;
  std::uint32_t sizes[6];
};

struct Symbol {
  char name[64];
  double last[40];
};

std::unique_ptr<Tick> MakeTick(load::Random& random) {
  return std::make_unique<Tick>(Tick{random(), 1.5});
}
std::unique_ptr<Quote> MakeQuote(const Tick& tick) {
  return std::make_unique<Quote>(Quote{tick.price - 0.01, tick.price + 0.01, {}});
}
Symbol* AddSymbol(std::uint64_t id) {
  auto* symbol = new Symbol{};
  std::memcpy(symbol->name, &id, sizeof id);
  return symbol;
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 30);
  const auto base = load::BaseData(run.Pick(2.0, 60.0, 200.0));
  load::Random random(331);
  load::Arrivals ticks(run, 332);
  double sum = 0;
  while (run.Next()) {
    for (unsigned n = ticks.Due(run.Pick(100e3, 500e3, 500e3)); n > 0; --n) {
      const auto tick = MakeTick(random);
      const auto quote = MakeQuote(*tick);
      sum += quote->ask;
      if (random.Below(run.Pick(100'000, 12'500, 500)) == 0)
        sum += AddSymbol(tick->symbol)->name[0];
    }
  }
  return sum == 1;
}
