// Line tables of Python code: any bytes are a table of each kind. A line found is never negative, and
// looking costs no more than the table is long.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/region/python_lines.h"

using memprof::PythonLines;
using memprof::PythonLineTable;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 5) return 0;
  int32_t first_line;
  __builtin_memcpy(&first_line, data + 1, sizeof first_line);
  const auto kind = static_cast<PythonLines>(data[0] % memprof::kPythonLinesKinds);
  const PythonLineTable lines(
      kind, std::string_view(reinterpret_cast<const char*>(data) + 5, size - 5), first_line);
  for (int32_t i = -1; i < 4096; ++i) {
    if (lines.LineOf(i) > INT32_MAX) abort();
  }
  lines.LineOf(INT32_MAX);
  lines.LineOf(INT32_MIN);
  return 0;
}
