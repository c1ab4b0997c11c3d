// A packet inspector with an open-addressing table of its own, in C's style: one slot a flow,
// doubled when three quarters are full. Flows that have ended are marked but never taken out.
//
// shape: table of its own that doubles without end (calloc and copy)
// leaks: table_grow
// harmless: packet_copy
// runs: small medium large
#include "load.h"

namespace {

struct Slot {
  std::uint64_t flow;
  std::uint32_t packets;
  std::uint32_t ended;
};

struct Table {
  Slot* slots;
  std::size_t capacity;
  std::size_t used;
};

Slot* table_slot(Table& table, std::uint64_t flow) {
  std::size_t i = flow * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++i) {
    Slot& slot = table.slots[i & (table.capacity - 1)];
    if (slot.flow == flow || slot.flow == 0) return &slot;
  }
}

void table_grow(Table& table) {
  Table larger{nullptr, table.capacity * 2, table.used};
  larger.slots = static_cast<Slot*>(std::calloc(larger.capacity, sizeof(Slot)));
  for (std::size_t i = 0; i < table.capacity; ++i) {
    if (table.slots[i].flow != 0) *table_slot(larger, table.slots[i].flow) = table.slots[i];
  }
  std::free(table.slots);
  table = larger;
}

void table_count(Table& table, std::uint64_t flow, bool last) {
  if (table.used * 4 > table.capacity * 3) table_grow(table);
  Slot* slot = table_slot(table, flow);
  if (slot->flow == 0) {
    slot->flow = flow;
    ++table.used;
  }
  ++slot->packets;
  slot->ended |= last;
}

unsigned char* packet_copy(std::size_t bytes) {
  auto* packet = static_cast<unsigned char*>(std::malloc(bytes));
  std::memset(packet, 1, bytes);
  return packet;
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 50);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 30.0));
  Table table{static_cast<Slot*>(std::calloc(64, sizeof(Slot))), 64, 0};
  load::Random random(101);
  load::Arrivals packets(run, 102);
  const double rate = run.Pick(200.0, 5000.0, 100000.0);
  std::uint64_t flow = 1;
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = packets.Due(rate); n > 0; --n) {
      const bool next = random.Chance(run.Pick(0.08, 0.08, 0.2));
      if (next) flow = random() | 1;
      unsigned char* packet = packet_copy(random.Between(60, 1500));
      sum += packet[10];
      table_count(table, flow, next);
      std::free(packet);
    }
  }
  std::free(table.slots);
  return sum == 1;
}
