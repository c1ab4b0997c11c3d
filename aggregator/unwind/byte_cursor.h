// ByteCursor: reads DWARF's primitive encodings from a range of memory and never outside it.
//
// Thread safety: a value of one thread. Async-signal-safe.
// Failure: sticky. A read past the end, or of an unsupported encoding, gives 0 and clears ok(). A
// parser checks ok() once, at the end of a record.
// Memory order: the bytes are a module's read-only data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

// Memory that may be read: [begin, end).
struct ByteRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool Contains(uintptr_t address) const { return address >= begin && address < end; }
  uintptr_t size() const { return end - begin; }
};

// DW_EH_PE_*: how .eh_frame and .eh_frame_hdr encode a pointer.
inline constexpr uint8_t kPointerOmitted = 0xff;
inline constexpr uint8_t kPointerFormatMask = 0x0f;
inline constexpr uint8_t kPointerBaseMask = 0x70;
inline constexpr uint8_t kPointerIndirect = 0x80;
inline constexpr uint8_t kPointerRelativeToPc = 0x10;
inline constexpr uint8_t kPointerRelativeToData = 0x30;

class ByteCursor {
 public:
  // REQUIRES: the bytes of `range` stay readable while the cursor is in use.
  ByteCursor(ByteRange range, uintptr_t position)
      : position_(position),
        end_(range.end),
        ok_(position >= range.begin && position <= range.end) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return !ok_ || position_ == end_; }
  uintptr_t position() const { return position_; }
  uintptr_t remaining() const { return ok_ ? end_ - position_ : 0; }

  void Fail() { ok_ = false; }

  void Skip(uint64_t bytes) {
    if (bytes > remaining()) return Fail();
    position_ += bytes;
  }

  // Moves the end to `bytes` from here: the rest belongs to another record.
  void Narrow(uint64_t bytes) {
    if (bytes > remaining()) return Fail();
    end_ = position_ + bytes;
  }

  // A signed move within [begin of `range`, end), for the branches of expressions.
  void Jump(ByteRange range, int64_t by) {
    const uintptr_t target = position_ + static_cast<uintptr_t>(by);
    if (!ok_ || target < range.begin || target > end_) return Fail();
    position_ = target;
  }

  template <typename T>
  T Fixed() {
    T value = 0;
    if (remaining() < sizeof(T)) {
      Fail();
      return 0;
    }
    __builtin_memcpy(&value, reinterpret_cast<const void*>(position_), sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  uint8_t U8() { return Fixed<uint8_t>(); }

  uint64_t Uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = U8();
      if (!ok_) return 0;
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = U8();
      if (!ok_) return 0;
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
  }

  // The value as stored, no base added. kPointerIndirect is ignored: the caller decides.
  uint64_t PointerValue(uint8_t encoding) {
    switch (encoding & kPointerFormatMask) {
      case 0x00:  // absptr
      case 0x04:  // udata8
      case 0x0c:  // sdata8
        return Fixed<uint64_t>();
      case 0x01:
        return Uleb();
      case 0x02:
        return Fixed<uint16_t>();
      case 0x03:
        return Fixed<uint32_t>();
      case 0x09:
        return static_cast<uint64_t>(Sleb());
      case 0x0a:
        return static_cast<uint64_t>(int64_t{Fixed<int16_t>()});
      case 0x0b:
        return static_cast<uint64_t>(int64_t{Fixed<int32_t>()});
      default:
        Fail();
        return 0;
    }
  }

  // An address. `data_base` is the start of .eh_frame_hdr; indirect pointers are not followed.
  uintptr_t Pointer(uint8_t encoding, uintptr_t data_base) {
    if (encoding == kPointerOmitted || (encoding & kPointerIndirect) != 0) {
      Fail();
      return 0;
    }
    uintptr_t base = 0;
    switch (encoding & kPointerBaseMask) {
      case 0x00:
        break;
      case kPointerRelativeToPc:
        base = position_;
        break;
      case kPointerRelativeToData:
        base = data_base;
        break;
      default:
        Fail();
        return 0;
    }
    return base + PointerValue(encoding);
  }

 private:
  uintptr_t position_;
  uintptr_t end_;
  bool ok_;
};

}  // namespace memprof
