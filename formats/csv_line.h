// A line of CSV as RFC 4180 has it.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

namespace memprof {

// Quotes what needs it; ends with CR LF.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace memprof
