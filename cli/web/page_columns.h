// Columns of a page's rows as JSON: one array for each figure.
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/web/page_functions.h"
#include "core/figure.h"

namespace memprof {

template <typename Row, typename Value>
nlohmann::ordered_json Column(const std::vector<Row>& rows, Value value) {
  nlohmann::ordered_json column = nlohmann::ordered_json::array();
  for (const Row& row : rows) column.push_back(value(row));
  return column;
}

// The rows' threads, if there are several, and their figures.
template <typename Row>
void AddColumns(const std::vector<Row>& rows, const std::vector<std::string>& threads,
                nlohmann::ordered_json& json) {
  if (threads.size() > 1) {
    json["thread"] = Column(rows, [](const Row& row) { return row.thread; });
  }
  for (const Figure figure : kAllFigures) {
    json[NameOf(figure) + std::string("_bytes")] =
        Column(rows, [&](const Row& row) { return FigureOf(row, figure).bytes; });
    json[NameOf(figure) + std::string("_allocations")] =
        Column(rows, [&](const Row& row) { return FigureOf(row, figure).allocations; });
  }
}

// A table of page.h's "functions".
inline nlohmann::ordered_json FunctionColumns(const std::vector<FunctionRow>& rows,
                                              const std::vector<std::string>& threads) {
  nlohmann::ordered_json json = {
      {"of", Column(rows, [](const FunctionRow& row) { return row.function; })}};
  AddColumns(rows, threads, json);
  return json;
}

inline nlohmann::ordered_json CountJson(const Count& count) {
  return nlohmann::ordered_json::array({count.bytes, count.allocations});
}

template <typename Of>
nlohmann::ordered_json FiguresJson(const Of& figures) {
  nlohmann::ordered_json json;
  for (const Figure figure : kAllFigures)
    json[NameOf(figure)] = CountJson(FigureOf(figures, figure));
  return json;
}

}  // namespace memprof
