// A search service that loads its second model in the middle of the run, within two seconds, and
// serves from it afterwards.
//
// shape: phase change, a one-time load in the middle
// leaks: none
// harmless: LoadModel, Embed
// runs: small medium large
#include <memory>

#include "load.h"

struct Layer {
  std::unique_ptr<float[]> weights;
  std::vector<float> bias;
};

class Model {
 public:
  void LoadModel(std::size_t width) {
    Layer layer{std::make_unique<float[]>(width * 16), std::vector<float>(width, 0.1f)};
    layers_.push_back(std::move(layer));
  }
  std::size_t layers() const { return layers_.size(); }

 private:
  std::vector<Layer> layers_;
};

std::vector<float> Embed(load::Random& random) {
  return std::vector<float>(random.Between(16, 768), 0.5f);
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 30.0));
  Model model;
  load::Random random(601);
  load::Arrivals requests(run, 602);
  std::vector<std::vector<float>> recent(64);
  while (run.Next()) {
    if (run.Done() > 0.5 && model.layers() < 200) model.LoadModel(run.Pick(2, 40, 3000));
    for (unsigned n = requests.Due(run.Pick(100.0, 1000.0, 10000.0)); n > 0; --n) {
      recent[random.Below(recent.size())] = Embed(random);
    }
  }
}
