// ByteReader: the checked opposite of ByteWriter. Reading past the end, or a number that is too
// long, gives 0 or "" and sets failed() for good. A parser checks it once, at its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace memprof {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return rest_.empty(); }
  size_t remaining() const { return rest_.size(); }

  template <typename Integer>
  Integer Fixed() {
    const std::string_view raw = Raw(sizeof(Integer));
    uint64_t value = 0;
    for (size_t i = 0; i < raw.size(); ++i) {
      value |= uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
    }
    return static_cast<Integer>(value);
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;  // would not fit
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return Fail();
  }
  int64_t Signed() {
    const uint64_t value = Varint();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  uint64_t Delta(uint64_t& previous) { return previous += static_cast<uint64_t>(Signed()); }
  std::string_view String() {
    const uint64_t size = Varint();
    return size <= rest_.size() ? Raw(size) : Raw(rest_.size() + 1);
  }
  std::string_view Raw(uint64_t size) {
    if (failed_ || size > rest_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  // A count of items that take at least `least_bytes` each: never more than the bytes can hold, nor
  // than `most`.
  uint64_t CountOfItems(uint64_t least_bytes, uint64_t most = ~uint64_t{0}) {
    const uint64_t count = Varint();
    return count <= std::min(most, rest_.size() / least_bytes) ? count : Fail();
  }

 private:
  uint64_t Fail() {
    failed_ = true;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace memprof
