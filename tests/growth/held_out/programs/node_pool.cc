// A graph engine with a pool of its own: nodes come from a free list, and malloc is asked for a
// slab of them when it is empty. Queries put nearly all of their nodes back; nodes of cancelled
// queries are lost to the pool, so that it needs a slab again and again.
//
// shape: leak through a pool, one slab at a time
// leaks: pool_refill
// harmless: query_text
// runs: small medium large
#include "load.h"

namespace {

struct Node {
  Node* next;
  std::uint64_t id;
  double weights[4];
};

struct Pool {
  Node* free;
  std::size_t slab;
};

void pool_refill(Pool& pool) {
  auto* nodes = static_cast<Node*>(std::malloc(pool.slab * sizeof(Node)));
  for (std::size_t i = 0; i < pool.slab; ++i) {
    nodes[i].next = pool.free;
    pool.free = &nodes[i];
  }
}

Node* pool_take(Pool& pool) {
  if (pool.free == nullptr) pool_refill(pool);
  Node* node = pool.free;
  pool.free = node->next;
  return node;
}

void pool_give(Pool& pool, Node* node) {
  node->next = pool.free;
  pool.free = node;
}

char* query_text(load::Random& random) {
  const std::size_t bytes = random.Between(30, 400);
  auto* text = static_cast<char*>(std::malloc(bytes));
  std::memset(text, '?', bytes);
  return text;
}

void query(Pool& pool, load::Random& random, double cancelled) {
  Node* nodes[64];
  const std::uint64_t count = random.Between(1, 64);
  char* text = query_text(random);
  for (std::uint64_t i = 0; i < count; ++i) nodes[i] = pool_take(pool);
  const bool lost = random.Chance(cancelled);
  for (std::uint64_t i = 0; i < count && !lost; ++i) pool_give(pool, nodes[i]);
  std::free(text);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 30.0));
  Pool pool{nullptr, run.Pick<std::size_t>(16, 128, 512)};
  load::Random random(401);
  load::Arrivals queries(run, 402);
  while (run.Next()) {
    for (unsigned n = queries.Due(run.Pick(100.0, 1000.0, 10000.0)); n > 0; --n) {
      query(pool, random, run.Pick(0.003, 0.006, 0.05));
    }
  }
}
