// CfiBuilder: the bytes of a CIE and an FDE, with absolute addresses, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "aggregator/unwind/byte_cursor.h"

namespace memprof::test {

// Bytes in a block of exactly their size, so that a sanitizer notices a read beyond them.
class ExactBytes {
 public:
  explicit ExactBytes(const std::vector<uint8_t>& bytes)
      : size_(bytes.size()), bytes_(new uint8_t[bytes.size()]) {
    if (size_ != 0) std::memcpy(bytes_.get(), bytes.data(), size_);
  }
  ByteRange range() const {
    const auto begin = reinterpret_cast<uintptr_t>(bytes_.get());
    return {begin, begin + size_};
  }

 private:
  size_t size_;
  std::unique_ptr<uint8_t[]> bytes_;
};

inline constexpr uintptr_t kFunction = 0x10000;
inline constexpr uint64_t kFunctionBytes = 0x1000;

class CfiBuilder {
 public:
  // Starts with the rules of every function's begin: CFA = rsp + 8, return address at CFA − 8.
  CfiBuilder& Cie(const char* augmentation = "zR", std::initializer_list<int> data = {0x00}) {
    std::vector<uint8_t> body;
    Append32(body, 0);  // a CIE
    body.push_back(1);  // version
    for (const char* c = augmentation; *c != '\0'; ++c) body.push_back(static_cast<uint8_t>(*c));
    body.push_back(0);
    Append(body, {0x01, 0x78, 0x10});  // code × 1, data × −8, return address in 16
    if (augmentation[0] == 'z') {
      body.push_back(static_cast<uint8_t>(data.size()));
      Append(body, data);
    }
    Append(body, {0x0c, 7, 8, 0x90, 1});  // def_cfa rsp + 8; offset 16 at −8
    Record(body);
    return *this;
  }

  CfiBuilder& Fde(std::initializer_list<int> instructions, bool augmented = true) {
    fde_ = bytes_.size();
    std::vector<uint8_t> body;
    Append32(body, static_cast<uint32_t>(fde_ + 4));  // back to the CIE, at 0
    Append64(body, kFunction);
    Append64(body, kFunctionBytes);
    if (augmented) body.push_back(0);
    Append(body, instructions);
    Record(body);
    return *this;
  }

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  size_t fde() const { return fde_; }  // its offset

 private:
  static void Append(std::vector<uint8_t>& to, std::initializer_list<int> values) {
    for (int value : values) to.push_back(static_cast<uint8_t>(value));
  }
  static void Append32(std::vector<uint8_t>& to, uint32_t value) {
    for (int i = 0; i < 4; ++i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  static void Append64(std::vector<uint8_t>& to, uint64_t value) {
    for (int i = 0; i < 8; ++i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void Record(const std::vector<uint8_t>& body) {
    Append32(bytes_, static_cast<uint32_t>(body.size()));
    bytes_.insert(bytes_.end(), body.begin(), body.end());
  }

  std::vector<uint8_t> bytes_;
  size_t fde_ = 0;
};

}  // namespace memprof::test
