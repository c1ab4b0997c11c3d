// SaturatedSum: what doesn't fit is the largest number that does. For sums of figures that may come
// from anywhere.
#pragma once

#include <concepts>

namespace memprof {

template <std::unsigned_integral Integer>
constexpr Integer SaturatedSum(Integer a, Integer b) {
  const auto sum = static_cast<Integer>(a + b);
  return sum < a ? static_cast<Integer>(~Integer{0}) : sum;
}

}  // namespace memprof
