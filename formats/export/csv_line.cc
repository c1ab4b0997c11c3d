#include "formats/export/csv_line.h"

#include <fmt/format.h>

#include "core/printable.h"

namespace memprof {
namespace {

std::string Quoted(const std::string& field) {
  std::string text = Printable(field);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    line += Quoted(field);
  }
  return line + "\r\n";
}

void AddFigureHeading(std::vector<std::string>& row, Figure figure, bool estimates) {
  for (const char* error : {"", "_standard_error"}) {
    if (*error != 0 && !estimates) continue;
    for (const char* unit : {"bytes", "allocations"}) {
      row.push_back(fmt::format("{}_{}{}", NameOf(figure), unit, error));
    }
  }
}

void AddFigureFields(std::vector<std::string>& row, const Count& count, const Variance& variance,
                     bool estimates) {
  auto add = [&](const Count& c) {
    row.push_back(fmt::format("{}", c.bytes));
    row.push_back(fmt::format("{}", c.allocations));
  };
  add(count);
  if (estimates) add(StandardError(variance));
}

}  // namespace memprof
