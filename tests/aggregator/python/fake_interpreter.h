// FakeInterpreter: memory with an interpreter's structures, made by hand. Everything outside it
// can't be read.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "aggregator/python/interpreter_layout.h"
#include "aggregator/python/interpreter_memory.h"

namespace memprof {

class FakeInterpreter {
 public:
  static constexpr uintptr_t kBase = 0x10000;
  static constexpr uintptr_t kCodeType = 0x777000;

  explicit FakeInterpreter(uint32_t minor) : bytes_(1 << 18) {
    if (minor < 13) {
      KnownLayout(minor, layout_);
    } else {
      uint64_t words[kPublishedWords] = {};
      Publish(minor, words);
      PublishedLayout(words, layout_);
    }
  }

  // What the interpreter of that version publishes.
  static void Publish(uint32_t minor, uint64_t (&words)[kPublishedWords]) {
    words[0] = 0x7970677562656478;
    words[1] = uint64_t{3} << 24 | uint64_t{minor} << 16;
    const bool later = minor >= 14;
    const auto set = [&](uint32_t in_13, uint32_t in_14, uint32_t in_15, uint64_t value) {
      words[minor == 13 ? in_13 : minor == 14 ? in_14 : in_15] = value;
    };
    set(4, 4, 4, 24);
    set(23, 26, 26, 72);
    set(29, 32, 40, 8);
    set(31, 34, 42, 56);
    set(33, 36, 44, later ? 74 : 70);
    set(35, 40, 48, 112);
    set(37, 42, 50, 128);
    set(38, 43, 51, 136);
    set(39, 44, 52, 68);
    set(43, 48, 56, later ? 208 : 200);
    set(45, 51, 59, 8);
    set(65, 75, 87, 16);
    set(66, 76, 88, 32);
    set(68, 78, 90, 32);
    set(69, 79, 91, 16);
    set(70, 80, 92, 40);
  }

  const InterpreterLayout& layout() const { return layout_; }
  InterpreterMemory memory() const { return {Copy, this}; }

  uintptr_t New(size_t bytes) {
    const uintptr_t at = kBase + used_;
    used_ += (bytes + 15) / 16 * 16;
    return at;
  }
  template <typename Value>
  void Set(uintptr_t address, Value value) {
    std::memcpy(&bytes_.at(address - kBase), &value, sizeof value);
  }
  void Write(uintptr_t address, const std::string& text) {
    std::memcpy(&bytes_.at(address - kBase), text.data(), text.size());
  }

  // A str of ASCII characters.
  uintptr_t Text(const std::string& text) {
    const uintptr_t at = New(layout_.string_other + text.size());
    Set(at + kStringLength, uint64_t{text.size()});
    Set(at + kStringState, uint32_t{1 << 2 | 1 << 5 | 1 << 6});
    Write(at + layout_.string_ascii, text);
    return at;
  }
  uintptr_t Wide(const std::u32string& text) {
    const uintptr_t at = New(layout_.string_other + text.size() * 4);
    Set(at + kStringLength, uint64_t{text.size()});
    Set(at + kStringState, uint32_t{4 << 2 | 1 << 5});
    for (size_t i = 0; i < text.size(); ++i) {
      Set(at + layout_.string_other + 4 * i, static_cast<uint32_t>(text[i]));
    }
    return at;
  }
  uintptr_t Bytes(const std::string& text) {
    const uintptr_t at = New(kBytesData + text.size());
    Set(at + kBytesSize, uint64_t{text.size()});
    Write(at + kBytesData, text);
    return at;
  }
  uintptr_t Code(uintptr_t file, uintptr_t name, int32_t first_line,
                 const std::string& lines = "ab") {
    const uintptr_t at = New(400);
    Set(at + kObjectType, kCodeType);
    Set(at + layout_.code_file, file);
    Set(at + layout_.code_name, name);
    Set(at + layout_.code_lines, Bytes(lines));
    Set(at + layout_.code_first_line, first_line);
    return at;
  }
  uintptr_t Frame(uintptr_t previous, uintptr_t code, uint32_t instruction, uint8_t owner = 0) {
    const uintptr_t at = New(kMostFrameBytes + 8);
    Set(at + layout_.frame_previous, previous);
    Set(at + layout_.frame_code, code);
    if (layout_.instruction_is_pointer) {
      Set(at + layout_.frame_instruction, code + layout_.code_instructions + 2 * instruction);
    } else {
      Set(at + layout_.frame_instruction, uint64_t{instruction << layout_.instruction_shift});
    }
    if (layout_.frame_owner != 0) Set(at + layout_.frame_owner, owner);
    return at;
  }
  uintptr_t ThreadState(uintptr_t head) {
    const uintptr_t at = New(256);
    if (layout_.has_cframe) {
      const uintptr_t cframe = New(32);
      Set(cframe + layout_.cframe_frame, head);
      Set(cframe + layout_.cframe_before, uintptr_t{0});
      head = cframe;
    }
    Set(at + layout_.thread_frame, head);
    return at;
  }

 private:
  static bool Copy(const void* self, uintptr_t address, void* to, size_t bytes) {
    const auto& all = static_cast<const FakeInterpreter*>(self)->bytes_;
    if (address < kBase || address - kBase > all.size() || bytes > all.size() - (address - kBase)) {
      return false;
    }
    std::memcpy(to, all.data() + (address - kBase), bytes);
    return true;
  }

  InterpreterLayout layout_;
  std::vector<unsigned char> bytes_;
  size_t used_ = 0;
};

}  // namespace memprof
