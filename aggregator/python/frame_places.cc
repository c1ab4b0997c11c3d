#include "aggregator/python/frame_places.h"

namespace memprof {
namespace {

// Finds native frames from the innermost one outwards.
class Outwards {
 public:
  Outwards(const RememberedFrame* native, uint32_t depth)
      : native_(native), next_(static_cast<int32_t>(depth) - 1) {}

  // The frame whose part of the stack has the address, outside all those found before; -1: none.
  int32_t FrameOf(uintptr_t address) {
    for (int32_t i = next_; i >= 0; --i) {
      const bool below_caller = i == 0 || address < native_[i - 1].slot;
      if (native_[i].slot < address && below_caller) return Found(i);
    }
    return Found(-1);
  }

  // The next frame that is in this code; -1: none.
  int32_t FrameIn(const EvalCode& code) {
    int32_t i = next_;
    while (i >= 0 && !code.Has(native_[i].pc)) --i;
    return Found(i >= 0 ? i : -1);
  }

 private:
  int32_t Found(int32_t i) {
    next_ = i - 1;
    return i;
  }

  const RememberedFrame* const native_;
  int32_t next_;  // below 0: there are no more
};

void PlaceShims(Outwards& native, FrameChain& chain) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < chain.count; ++i) {
    if (chain.frames[i].code != 0) continue;
    const int32_t after = native.FrameOf(chain.frames[i].address);
    for (; first <= i; ++first) chain.frames[first].after = after;
  }
  // A chain that was cut may end within a segment, whose activation isn't known.
}

void PlaceCFrames(Outwards& native, FrameChain& chain) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < chain.cframe_count; ++i) {
    const uintptr_t end = i + 1 < chain.cframe_count ? chain.cframes[i + 1].frame : 0;
    const int32_t after = native.FrameOf(chain.cframes[i].address);
    for (; at < chain.count && chain.frames[at].address != end; ++at) {
      chain.frames[at].after = after;
    }
  }
}

void PlaceByCalls(const EvalCode& eval, Outwards& native, FrameChain& chain) {
  for (uint32_t i = 0; i < chain.count; ++i) chain.frames[i].after = native.FrameIn(eval);
}

}  // namespace

void PlaceFrames(const InterpreterLayout& layout, const EvalCode& eval,
                 const RememberedFrame* native, uint32_t depth, FrameChain& chain) {
  Outwards outwards(native, depth);
  switch (layout.boundary) {
    case PythonBoundary::kShims:
      return PlaceShims(outwards, chain);
    case PythonBoundary::kCFrames:
      return PlaceCFrames(outwards, chain);
    case PythonBoundary::kEvalCalls:
      return PlaceByCalls(eval, outwards, chain);
  }
}

}  // namespace memprof
