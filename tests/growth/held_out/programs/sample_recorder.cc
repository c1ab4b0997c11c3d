// An instrument's recorder in C's style: samples go to one block, which realloc makes larger by a
// fixed step whenever it is full. The recording is never cut.
//
// shape: growth by realloc in equal steps, without fragmentation
// leaks: record_sample
// harmless: filter_window
// runs: small medium large
#include "load.h"

namespace {

struct Recording {
  double* samples;
  std::size_t used;
  std::size_t room;
  std::size_t step;
};

void record_sample(Recording& recording, double value) {
  if (recording.used == recording.room) {
    recording.room += recording.step;
    recording.samples =
        static_cast<double*>(std::realloc(recording.samples, recording.room * sizeof(double)));
  }
  recording.samples[recording.used++] = value;
}

double filter_window(load::Random& random, std::size_t width) {
  auto* window = static_cast<double*>(std::calloc(width, sizeof(double)));
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += window[i] = random.Uniform();
  std::free(window);
  return sum / static_cast<double>(width);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 30, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(2.0, 2.0, 10.0));
  Recording recording{nullptr, 0, 0, run.Pick<std::size_t>(32, 512, 16384)};
  load::Random random(211);
  load::Arrivals samples(run, 212);
  while (run.Next()) {
    for (unsigned n = samples.Due(run.Pick(40.0, 2000.0, 90000.0)); n > 0; --n) {
      record_sample(recording, filter_window(random, random.Between(8, 40)));
    }
  }
  std::free(recording.samples);
}
