#include "aggregator/python/code_object.h"

namespace memprof {
namespace {

constexpr uint64_t kLongestText = 1u << 24;

// The bits of a str's state. A string that isn't compact is kept elsewhere; the interpreter makes
// no names of that sort.
constexpr uint32_t kCompact = 1u << 5;
constexpr uint32_t kAscii = 1u << 6;

PythonText OpenText(const InterpreterLayout& layout, const InterpreterMemory& memory,
                    uintptr_t address) {
  uint64_t length = 0;
  uint32_t state = 0;
  if (!memory.Load(address + kStringLength, length) ||
      !memory.Load(address + kStringState, state) || (state & kCompact) == 0 ||
      length > kLongestText) {
    return {};
  }
  const uint32_t width = state >> 2 & 7;
  if (width != 1 && width != 2 && width != 4) return {};
  const uint32_t data = (state & kAscii) != 0 ? layout.string_ascii : layout.string_other;
  return {address + data, length, width};
}

}  // namespace

bool OpenCode(const InterpreterLayout& layout, const InterpreterMemory& memory, uintptr_t code_type,
              uintptr_t address, CodeObject& code) {
  uintptr_t type = 0;
  if (address % sizeof(uintptr_t) != 0 || !memory.Load(address + kObjectType, type) ||
      type != code_type) {
    return false;
  }
  uintptr_t file = 0;
  uintptr_t name = 0;
  uintptr_t lines = 0;
  if (!memory.Load(address + layout.code_file, file) ||
      !memory.Load(address + layout.code_name, name) ||
      !memory.Load(address + layout.code_lines, lines) ||
      !memory.Load(address + layout.code_first_line, code.first_line)) {
    return false;
  }
  code.stands_for_native = file == name;
  code.file = OpenText(layout, memory, file);
  code.name = OpenText(layout, memory, name);
  if (memory.Load(lines + kBytesSize, code.lines_bytes)) code.lines = lines + kBytesData;
  return true;
}

}  // namespace memprof
