// What every program of this folder needs to stand for a week of a service in half a minute: a
// clock that ends the run, events that arrive at random at a given rate, random numbers, and a heap
// of a given size that is there from the start.
//
// Nothing here allocates while events are handled, so every place of allocation in a report is the
// program's own.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace load {

// What leaks in the whole run: some KiB, some hundred KiB, or some tens of MiB.
enum class Scale { kSmall, kMedium, kLarge };

// How a program ends: most services are killed by the next deployment, some free all they have.
enum class End { kKilled, kTearsDown };

// A run of so many seconds. PROGRAM [small|medium|large [SECONDS]]
class Run {
 public:
  Run(int argc, char** argv, double seconds, End end = End::kKilled)
      : seconds_(argc > 2 ? std::atof(argv[2]) : seconds), scale_(Scale::kMedium), end_(end) {
    const std::string_view name = argc > 1 ? argv[1] : "medium";
    if (name == "small") scale_ = Scale::kSmall;
    if (name == "large") scale_ = Scale::kLarge;
  }

  // Sleeps for a moment; false when the run is over and the program is to tear down.
  bool Next() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (Seconds() < seconds_) return true;
    if (end_ == End::kKilled) std::_Exit(0);
    return false;
  }

  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  // The part of the run that is over, 0 to 1.
  double Done() const { return Seconds() / seconds_; }
  double Length() const { return seconds_; }
  // The load of a service whose users sleep at night: between `low` and 1, in `days` days.
  double Daylight(int days, double low) const {
    const double wave = 0.5 - 0.5 * std::cos(2 * M_PI * days * Done());
    return low + (1 - low) * wave;
  }

  template <typename T>
  T Pick(T small, T medium, T large) const {
    return scale_ == Scale::kSmall ? small : scale_ == Scale::kMedium ? medium : large;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_;
  Scale scale_;
  End end_;
};

// Splitmix64: small, and good enough for traffic.
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15u) {}

  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t Below(std::uint64_t n) { return (*this)() % n; }
  std::uint64_t Between(std::uint64_t low, std::uint64_t high) {
    return low + Below(high - low + 1);
  }
  // In (0, 1).
  double Uniform() { return (static_cast<double>((*this)() >> 11) + 0.5) * 0x1p-53; }
  bool Chance(double p) { return Uniform() < p; }
  double Exponential(double mean) { return -mean * std::log(Uniform()); }
  // 1 to n, the k-th as often as 1/k.
  std::uint64_t Zipf(std::uint64_t n) {
    const auto k = static_cast<std::uint64_t>(std::exp(Uniform() * std::log(n + 1.0)));
    return k < 1 ? 1 : k > n ? n : k;
  }

 private:
  std::uint64_t state_;
};

// Events of one kind, which come at random.
class Arrivals {
 public:
  Arrivals(const Run& run, std::uint64_t seed) : run_(run), random_(seed), last_(run.Seconds()) {}

  // How many have come since the last call, at `rate` a second.
  unsigned Due(double rate) {
    const double now = run_.Seconds();
    const double mean = (now - last_) * rate;
    last_ = now;
    if (mean <= 0) return 0;
    if (mean > 30) {
      const double normal =
          std::sqrt(-2 * std::log(random_.Uniform())) * std::cos(2 * M_PI * random_.Uniform());
      const double count = mean + std::sqrt(mean) * normal + 0.5;
      return count < 0 ? 0 : static_cast<unsigned>(count);
    }
    unsigned count = 0;
    for (double p = random_.Uniform(); p > std::exp(-mean); p *= random_.Uniform()) ++count;
    return count;
  }

 private:
  const Run& run_;
  Random random_;
  double last_;
};

// What a service has read at its start and keeps: configuration, models, indexes.
inline std::vector<std::unique_ptr<char[]>> BaseData(double mib) {
  constexpr std::size_t kBlock = 32 << 10;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (double bytes = 0; bytes < mib * 0x1p20; bytes += kBlock) {
    blocks.push_back(std::make_unique<char[]>(kBlock));
    std::memset(blocks.back().get(), 0x5a, kBlock);
  }
  return blocks;
}

}  // namespace load
