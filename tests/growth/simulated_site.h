// SimulatedSite: the live bytes of one site of an imaginary program at ascending times. It is a sum
// of parts: a known shape (a leak, a cache that fills, a pool that swings) and noise like that of
// live memory, which resembles what was live just before.
//
// Thread safety: one owner. The same seed gives the same site.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace memprof {

using Random = std::mt19937_64;

// Bytes live at a time, in seconds after the start; the times of the calls ascend.
using Shape = std::function<double(double seconds)>;

struct SimulatedSite {
  Shape live;
  bool leaks = false;  // the true answer
  const char* name = "";
  uint64_t blocks = 0;  // live, always that many; 0: not known
};

// The values of a parameter that are drawn: the range is cut into 16 parts, and each set has every
// second one, so that no value of one set is in the other.
enum class ParameterSet { kTuning, kScoring };

class Parameters {
 public:
  Parameters(ParameterSet set, uint64_t seed) : set_(set), random_(seed) {}

  // By its logarithm. Pre: 0 < low < high.
  double Between(double low, double high);
  bool Either() { return (random_() & 1) != 0; }
  uint64_t Seed() { return random_(); }

 private:
  ParameterSet set_;
  Random random_;
};

// Shapes. `run` is the length of the run; all times are in seconds, sizes in bytes.
Shape Constant(double bytes);
Shape Line(double rate);                                       // a leak
Shape Curve(double run, double bytes, double power);           // bytes (t / run)^power
Shape Steps(double every, double bytes);                       // a leak that comes at once
Shape RandomSteps(double every, double bytes, uint64_t seed);  // by a Poisson process
Shape Filling(double constant, double bytes);                  // bytes (1 − e^(−t / constant))
Shape Ramp(double until, double bytes);                        // fills evenly, then stands
// A hash table whose entries fill a store with that time constant, in capacities of powers of two.
Shape Doublings(double constant, double bytes);
Shape Logarithm(double first, double run, double bytes);  // bytes at the end of the run
// Full and empty again, in periods that differ by up to a tenth, as load makes them: one as even as
// a clock could beat with the times of the looks.
Shape Sawtooth(double period, double bytes, double phase, uint64_t seed);
Shape Cycle(double period, double bytes, double phase);         // a day's
Shape WorkingHours(double period, double bytes, double phase);  // there a third of the day
// Bursts that last that long, by a Poisson process, each of up to the bytes.
Shape Bursts(double every, double lasting, double bytes, uint64_t seed);
// Noise with a standard deviation and a time constant (Ornstein & Uhlenbeck).
Shape Noise(double deviation, double constant, uint64_t seed);
// Sessions that come by a Poisson process and stay exponentially long: what is live of them.
Shape Sessions(double mean_number, double stay, double bytes, uint64_t seed);
// A pool that keeps what it ever had in chunks: the highest of a noisy use so far, which grows ever
// more slowly.
Shape HighWater(double bytes, double deviation, double constant, uint64_t seed);

// A container to which an element is added at a constant rate, without end: each capacity is
// `factor` times the last one. It has `bytes` at the end of the run.
Shape Container(double run, double bytes, double factor, double phase);
// Buffers that each keep the largest record that they ever had, in a log-normal distribution.
Shape RecordBuffers(size_t number, double bytes, double every, uint64_t seed);

Shape From(double start, Shape shape);  // nothing before, then the shape from its beginning
Shape Times(double factor, Shape shape);
Shape Sum(std::vector<Shape> parts);

}  // namespace memprof
