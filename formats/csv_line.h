// A line of CSV as RFC 4180 has it.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "core/figure.h"
#include "core/snapshot/sampling.h"

namespace memprof {

// Quotes what needs it; ends with CR LF. Names are made printable: a program chooses them.
std::string CsvLine(const std::vector<std::string>& fields);

// The columns of a figure: bytes and allocations, then, if they are estimates, their errors.
void AddFigureHeading(std::vector<std::string>& row, Figure figure, bool estimates);
void AddFigureFields(std::vector<std::string>& row, const Count& count, const Variance& variance,
                     bool estimates);

}  // namespace memprof
