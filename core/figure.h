// Figures: the four figures that every report shows. Figure: which of the four.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>

#include "core/count.h"

namespace memprof {

enum class Figure : uint8_t { kPeak, kLeaked, kTotal, kTemporary };
inline constexpr Figure kAllFigures[] = {Figure::kPeak, Figure::kLeaked, Figure::kTotal,
                                         Figure::kTemporary};

struct Figures {
  Count peak;       // live when the heap was highest
  Count leaked;     // live at the end, or now
  Count total;      // ever allocated
  Count temporary;  // of total: freed soon
};

// Selects one figure of a site, a row, a profile, or of their variances.
template <typename Of>
auto& FigureOf(Of& figures, Figure figure) {
  switch (figure) {
    case Figure::kLeaked:
      return figures.leaked;
    case Figure::kTotal:
      return figures.total;
    case Figure::kTemporary:
      return figures.temporary;
    case Figure::kPeak:
      break;
  }
  return figures.peak;
}

// Adds every figure of `from` to that of `to`, whatever types the two have.
template <typename To, typename From>
void AddFigures(To& to, const From& from) {
  for (const Figure figure : kAllFigures) FigureOf(to, figure) += FigureOf(from, figure);
}

// The name in JSON, CSV and on the page.
constexpr const char* NameOf(Figure figure) {
  switch (figure) {
    case Figure::kLeaked:
      return "leaked";
    case Figure::kTotal:
      return "total";
    case Figure::kTemporary:
      return "temporary";
    case Figure::kPeak:
      break;
  }
  return "peak";
}

}  // namespace memprof
