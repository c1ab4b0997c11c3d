// A document store with a JSON tree of its own: each node comes from one function. Answers to
// queries die at once, recent documents are cached; documents whose validation is pending wait for
// a validator that was switched off.
//
// shape: leak through a recursive factory that a cache and temporaries share
// leaks: QueueValidation
// harmless: CacheDocument, AnswerQuery
// runs: medium large
#include <memory>
#include <string>

#include "load.h"

struct Node {
  std::string key;
  std::vector<std::unique_ptr<Node>> children;
};

std::unique_ptr<Node> ParseNode(load::Random& random, int depth) {
  auto node = std::make_unique<Node>();
  node->key.assign(random.Between(4, 40), 'k');
  if (depth > 0) {
    for (std::uint64_t i = 0, n = random.Between(1, 4); i < n; ++i) {
      node->children.push_back(ParseNode(random, depth - 1));
    }
  }
  return node;
}

class Store {
 public:
  explicit Store(std::size_t documents) : cache_(documents) {}
  void CacheDocument(load::Random& random) {
    cache_[random.Below(cache_.size())] = ParseNode(random, 3);
  }
  std::size_t AnswerQuery(load::Random& random) { return ParseNode(random, 2)->children.size(); }
  void QueueValidation(load::Random& random) { pending_.push_back(ParseNode(random, 2)); }

 private:
  std::vector<std::unique_ptr<Node>> cache_;
  std::vector<std::unique_ptr<Node>> pending_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 16.0));
  Store store(run.Pick(20, 300, 4000));
  load::Random random(121);
  load::Arrivals queries(run, 122);
  load::Arrivals documents(run, 123);
  load::Arrivals validations(run, 124);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = queries.Due(run.Pick(50.0, 500.0, 5000.0)); n > 0; --n) {
      sum += store.AnswerQuery(random);
    }
    for (unsigned n = documents.Due(run.Pick(5.0, 100.0, 1000.0)); n > 0; --n) {
      store.CacheDocument(random);
    }
    for (unsigned n = validations.Due(run.Pick(0.5, 12.0, 500.0)); n > 0; --n) {
      store.QueueValidation(random);
    }
  }
  return sum == 1;
}
