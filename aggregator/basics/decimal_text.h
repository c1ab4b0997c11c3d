// DecimalText: the decimal digits of a number. Thread safety: each by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

class DecimalText {
 public:
  explicit DecimalText(uint32_t number) {
    do {
      *--begin_ = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
  }
  DecimalText(const DecimalText&) = delete;

  const char* text() const { return begin_; }  // points into this object
  size_t bytes() const { return static_cast<size_t>(digits_ + kMostDigits - begin_); }

 private:
  static constexpr size_t kMostDigits = 10;
  char digits_[kMostDigits + 1] = {};
  char* begin_ = digits_ + kMostDigits;
};

}  // namespace memprof
