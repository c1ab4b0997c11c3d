// ByteWriter: appends integers and strings to a std::string in the capture format's encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memprof {

class ByteWriter {
 public:
  template <typename Integer>
  void Fixed(Integer value) {  // little endian
    for (size_t i = 0; i < sizeof value; ++i) {
      bytes_ += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
    }
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void Signed(int64_t value) {  // zigzag
    Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Delta(uint64_t value, uint64_t& previous) {  // wraps round, and the reader's sum wraps back
    Signed(static_cast<int64_t>(value - previous));
    previous = value;
  }
  void String(std::string_view text) {
    Varint(text.size());
    bytes_ += text;
  }
  void Raw(std::string_view text) { bytes_ += text; }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace memprof
