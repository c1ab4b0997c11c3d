// SaturatedSum: a sum that stops at the largest number instead of overflowing. For figures from
// untrusted sources.
#pragma once

#include <concepts>

namespace memprof {

template <std::unsigned_integral Integer>
constexpr Integer SaturatedSum(Integer a, Integer b) {
  const auto sum = static_cast<Integer>(a + b);
  return sum < a ? static_cast<Integer>(~Integer{0}) : sum;
}

}  // namespace memprof
