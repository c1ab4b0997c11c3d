#include "tests/growth/simulated_site.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace memprof {
namespace {

constexpr int kParts = 16;

double Fraction(double x) { return x - std::floor(x); }

}  // namespace

double Parameters::Between(double low, double high) {
  std::uniform_int_distribution<int> part(0, kParts / 2 - 1);
  std::uniform_real_distribution<double> within(0, 1);
  const int cell = 2 * part(random_) + (set_ == ParameterSet::kScoring ? 1 : 0);
  const double at = (cell + within(random_)) / kParts;
  return low * std::pow(high / low, at);
}

Shape Constant(double bytes) {
  return [bytes](double) { return bytes; };
}

Shape Line(double rate) {
  return [rate](double t) { return t * rate; };
}

Shape Curve(double run, double bytes, double power) {
  return [run, bytes, power](double t) { return bytes * std::pow(t / run, power); };
}

Shape Steps(double every, double bytes) {
  return [every, bytes](double t) { return bytes * std::floor(t / every); };
}

Shape RandomSteps(double every, double bytes, uint64_t seed) {
  struct State {
    Random random;
    double time = 0, number = 0;
  };
  return [every, bytes, state = std::make_shared<State>(State{Random(seed)})](double t) {
    std::poisson_distribution<int64_t> steps((t - state->time) / every);
    if (t > state->time) state->number += static_cast<double>(steps(state->random));
    state->time = t;
    return bytes * state->number;
  };
}

Shape Filling(double constant, double bytes) {
  return [constant, bytes](double t) { return bytes * (1 - std::exp(-t / constant)); };
}

Shape Ramp(double until, double bytes) {
  return [until, bytes](double t) { return bytes * std::min(t / until, 1.0); };
}

Shape Doublings(double constant, double bytes) {
  return [constant, bytes](double t) {
    const double entries = 1 - std::exp(-t / constant);
    if (entries <= 0) return 0.0;
    return bytes * std::exp2(std::ceil(std::log2(entries * 0.8)));
  };
}

Shape Logarithm(double first, double run, double bytes) {
  return [first, run, bytes](double t) {
    return bytes * std::log1p(t / first) / std::log1p(run / first);
  };
}

Shape Sawtooth(double period, double bytes, double phase, uint64_t seed) {
  struct State {
    Random random;
    double from, to;
  };
  auto state = std::make_shared<State>(State{Random(seed), -phase * period, (1 - phase) * period});
  return [period, bytes, state](double t) {
    // Events long before the second of two looks make no difference.
    if (t > state->to + 1000 * period) state->to = t - 100 * period;
    while (t >= state->to) {
      state->from = state->to;
      state->to += period * std::uniform_real_distribution<double>(0.9, 1.1)(state->random);
    }
    return bytes * (t - state->from) / (state->to - state->from);
  };
}

Shape Cycle(double period, double bytes, double phase) {
  return [period, bytes, phase](double t) {
    return bytes * (1 - std::cos(2 * std::numbers::pi * (t / period + phase))) / 2;
  };
}

Shape WorkingHours(double period, double bytes, double phase) {
  return [period, bytes, phase](double t) {
    return Fraction(t / period + phase) < 1.0 / 3 ? bytes : 0;
  };
}

Shape Bursts(double every, double lasting, double bytes, uint64_t seed) {
  struct State {
    Random random;
    double starts, ends = 0, size = 0;
  };
  auto state = std::make_shared<State>(State{Random(seed), 0});
  std::exponential_distribution<double> wait(1 / every);
  state->starts = wait(state->random);
  return [lasting, bytes, wait, state](double t) mutable {
    while (t >= state->starts) {
      state->ends = state->starts + lasting;
      state->size = bytes * std::uniform_real_distribution<double>(0.2, 1)(state->random);
      state->starts = state->ends + wait(state->random);
    }
    return t < state->ends ? state->size : 0.0;
  };
}

Shape Noise(double deviation, double constant, uint64_t seed) {
  struct State {
    Random random;
    double time = 0, value = 0;
  };
  auto state = std::make_shared<State>(State{Random(seed)});
  state->value = deviation * std::normal_distribution<double>()(state->random);
  return [deviation, constant, state](double t) {
    const double kept = std::exp(-(t - state->time) / constant);
    state->time = t;
    state->value = kept * state->value + deviation * std::sqrt(1 - kept * kept) *
                                             std::normal_distribution<double>()(state->random);
    return state->value;
  };
}

Shape Sessions(double mean_number, double stay, double bytes, uint64_t seed) {
  struct State {
    Random random;
    double time = 0;
    int64_t number = 0;
  };
  auto state = std::make_shared<State>(State{Random(seed)});
  state->number = std::poisson_distribution<int64_t>(mean_number)(state->random);
  return [mean_number, stay, bytes, state](double t) {
    const double kept = std::exp(-(t - state->time) / stay);
    state->time = t;
    std::binomial_distribution<int64_t> staying(state->number, kept);
    std::poisson_distribution<int64_t> fresh(std::max(mean_number * (1 - kept), 1e-12));
    state->number = staying(state->random) + fresh(state->random);
    return bytes * static_cast<double>(state->number);
  };
}

Shape HighWater(double bytes, double deviation, double constant, uint64_t seed) {
  return [bytes, constant, highest = 0.0, last = 0.0,
          noise = Noise(deviation, constant, seed)](double t) mutable {
    // Changes between two looks are included, up to a bound beyond which they don't change the
    // answer.
    const double step = std::max(constant, (t - last) / 50);
    for (double at = last + step; at < t; at += step) highest = std::max(highest, noise(at));
    highest = std::max(highest, noise(t));
    last = t;
    return bytes + highest;
  };
}

Shape Container(double run, double bytes, double factor, double phase) {
  return [=](double t) {
    if (t <= 0) return 0.0;
    const double steps = std::log(t / run) / std::log(factor);
    return std::max(bytes * std::pow(factor, std::floor(steps + phase)), 64.0);
  };
}

Shape RecordBuffers(size_t number, double bytes, double every, uint64_t seed) {
  struct State {
    Random random;
    std::vector<double> highest;
    double time = 0;
  };
  auto state = std::make_shared<State>(State{Random(seed), std::vector<double>(number, 0)});
  return [bytes, every, state](double t) {
    std::poisson_distribution<int> records(std::max((t - state->time) / every, 1e-12));
    std::lognormal_distribution<double> record(0, 0.5);
    double sum = 0;
    for (double& highest : state->highest) {
      for (int i = records(state->random); i > 0; --i) {
        highest = std::max(highest, record(state->random));
      }
      sum += highest;
    }
    state->time = t;
    return bytes * sum;
  };
}

Shape From(double start, Shape shape) {
  return [start, shape = std::move(shape)](double t) { return t < start ? 0.0 : shape(t - start); };
}

Shape Times(double factor, Shape shape) {
  return [factor, shape = std::move(shape)](double t) { return factor * shape(t); };
}

Shape Sum(std::vector<Shape> parts) {
  return [parts = std::move(parts)](double t) {
    double sum = 0;
    for (const Shape& part : parts) sum += part(t);
    return sum;
  };
}

}  // namespace memprof
