// A spell checker that keeps each different word of the texts that it sees. The language has so
// many words: each text has fewer new ones, and in the second half of the run there are next to
// none.
//
// shape: symbol table that saturates (all keys are equally likely)
// leaks: none
// harmless: WordId, Suggest
// runs: small medium large
#include <map>
#include <string>

#include "load.h"

class Words {
 public:
  int WordId(const std::string& word) { return ids_.emplace(word, ids_.size()).first->second; }
  std::vector<std::string> Suggest(load::Random& random) const {
    return std::vector<std::string>(random.Between(1, 8), std::string(20, 's'));
  }

 private:
  std::map<std::string, int> ids_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  Words words;
  load::Random random(731);
  load::Arrivals texts(run, 732);
  const auto language = run.Pick<std::uint64_t>(150, 5000, 150000);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = texts.Due(static_cast<double>(language) / 6); n > 0; --n) {
      char word[48];
      std::snprintf(word, sizeof word, "a-long-compound-word-number-%lu",
                    static_cast<unsigned long>(random.Below(language)));
      sum += words.WordId(word);
      if (n % 32 == 0) sum += words.Suggest(random).size();
    }
  }
  return sum == 1;
}
