// MemorySource: the memory of a program that stands still, for example of a frozen copy.
//
// Thread safety: all may be called by several threads at once. What it returns was written by the
// program, so nothing in it is trusted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace memprof {

inline constexpr uint64_t kPage = 4096;

class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // Fills `to` with the bytes from `address` on. Bytes that aren't mapped, and pages that were never
  // written, are 0.
  virtual void Read(uint64_t address, std::span<unsigned char> to) const = 0;
  // An address from `begin` on, at most `end`, before which all bytes are 0. A block may be much
  // larger than the memory that was ever touched in it.
  virtual uint64_t SkipZeros(uint64_t begin, uint64_t end) const {
    static_cast<void>(end);
    return begin;
  }
  // Whether each page from `page` on (address / kPage) takes memory: 1, else 0.
  virtual void Resident(uint64_t page, std::span<unsigned char> is) const {
    static_cast<void>(page);
    std::fill(is.begin(), is.end(), static_cast<unsigned char>(1));
  }
};

inline uint64_t WordAt(const MemorySource& memory, uint64_t address) {
  uint64_t word = 0;
  memory.Read(address, {reinterpret_cast<unsigned char*>(&word), sizeof word});
  return word;
}

}  // namespace memprof
