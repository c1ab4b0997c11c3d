// A key-value server with a dictionary of its own: two tables, of which the larger one is filled
// from the smaller one a few buckets at a time. All keys are known after a quarter of the run;
// values change.
//
// shape: incremental rehash up to the final size, with values that change their sizes
// leaks: none
// harmless: dict_expand, dict_add, set_value
// runs: small medium large
#include <algorithm>

#include "load.h"

namespace {

struct Entry {
  Entry* next;
  std::uint64_t key;
  char* value;
};

struct Table {
  Entry** buckets;
  std::size_t size;
};

struct Dict {
  Table tables[2];
  std::size_t entries;
  std::size_t moved;
};

void dict_expand(Dict& dict) {
  const std::size_t size = dict.tables[0].size * 2;
  dict.tables[1] = {static_cast<Entry**>(std::calloc(size, sizeof(Entry*))), size};
  dict.moved = 0;
}

void dict_move(Dict& dict, std::size_t buckets) {
  for (; buckets > 0 && dict.moved < dict.tables[0].size; --buckets, ++dict.moved) {
    while (Entry* entry = dict.tables[0].buckets[dict.moved]) {
      dict.tables[0].buckets[dict.moved] = entry->next;
      Entry** bucket = &dict.tables[1].buckets[entry->key & (dict.tables[1].size - 1)];
      entry->next = *bucket;
      *bucket = entry;
    }
  }
  if (dict.moved < dict.tables[0].size) return;
  std::free(dict.tables[0].buckets);
  dict.tables[0] = dict.tables[1];
  dict.tables[1] = {nullptr, 0};
}

Entry* dict_find(Dict& dict, std::uint64_t key) {
  for (const Table& table : dict.tables) {
    if (table.size == 0) continue;
    for (Entry* e = table.buckets[key & (table.size - 1)]; e != nullptr; e = e->next) {
      if (e->key == key) return e;
    }
  }
  return nullptr;
}

Entry* dict_add(Dict& dict, std::uint64_t key) {
  if (dict.tables[1].size == 0 && dict.entries >= dict.tables[0].size) dict_expand(dict);
  const Table& table = dict.tables[dict.tables[1].size == 0 ? 0 : 1];
  auto* entry = static_cast<Entry*>(std::malloc(sizeof(Entry)));
  Entry** bucket = &table.buckets[key & (table.size - 1)];
  *entry = {*bucket, key, nullptr};
  *bucket = entry;
  ++dict.entries;
  return entry;
}

void set_value(Entry* entry, std::size_t bytes) {
  std::free(entry->value);
  entry->value = static_cast<char*>(std::malloc(bytes));
  std::memset(entry->value, 'v', bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 2.0, 10.0));
  Dict dict{{{static_cast<Entry**>(std::calloc(4, sizeof(Entry*))), 4}, {nullptr, 0}}, 0, 0};
  load::Random random(681);
  load::Arrivals writes(run, 682);
  const auto keys = run.Pick<std::uint64_t>(100, 4000, 80000);
  while (run.Next()) {
    const double known = static_cast<double>(keys) * std::min(1.0, run.Done() * 4);
    for (unsigned n = writes.Due(static_cast<double>(keys) / 2); n > 0; --n) {
      const std::uint64_t key = random.Below(static_cast<std::uint64_t>(known) + 1) * 31;
      Entry* entry = dict_find(dict, key);
      if (entry == nullptr) entry = dict_add(dict, key);
      set_value(entry, random.Between(16, 250));
      if (dict.tables[1].size != 0) dict_move(dict, 4);
    }
  }
}
