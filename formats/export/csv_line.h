// Writes a line of CSV by RFC 4180.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "core/figure.h"
#include "core/snapshot/sampling.h"

namespace memprof {

// Quotes fields that need it; ends with CR LF. Names are made printable, since a program chooses
// them.
std::string CsvLine(const std::vector<std::string>& fields);

// The columns of a figure: bytes and allocations, then their errors if they are estimates.
void AddFigureHeading(std::vector<std::string>& row, Figure figure, bool estimates);
void AddFigureFields(std::vector<std::string>& row, const Count& count, const Variance& variance,
                     bool estimates);

}  // namespace memprof
