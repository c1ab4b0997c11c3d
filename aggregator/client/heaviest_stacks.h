// HeaviestStacks: the rows of an ended scope by weight, for a program that wants to print them.
//
// Thread safety: one thread's. Take in the segments' turn; the rest outside it, since the callback
// is the program's own code.
// Memory: 24 bytes a row, private, while it lives. Failure: there are no rows.
#pragma once

#include "aggregator/basics/region.h"
#include "aggregator/client/memprof/memprof.h"
#include "aggregator/tables/segments.h"

namespace memprof {

class HeaviestStacks {
 public:
  HeaviestStacks() = default;
  ~HeaviestStacks();
  HeaviestStacks(const HeaviestStacks&) = delete;
  HeaviestStacks& operator=(const HeaviestStacks&) = delete;

  // An unknown order has no rows.
  void Take(const Region& region, const Segments& segments, ScopeId scope, memprof_order order);
  size_t count() const { return count_; }

  // Calls back for the `most` heaviest ones, the heaviest first, until the callback doesn't return
  // 0.
  void Each(size_t most, memprof_stack_callback callback, void* context);

 private:
  struct Entry {
    SiteRow row;
    uint32_t site;
  };
  int64_t WeightOf(const Entry& entry) const;
  // True if `a` is lighter. If the weights are equal, the later site is lighter.
  bool Lighter(const Entry& a, const Entry& b) const;
  void SiftDown(size_t at, size_t count);
  int Call(const Entry& entry, memprof_stack_callback callback, void* context) const;

  const Region* region_ = nullptr;
  memprof_order order_ = MEMPROF_BY_PEAK;
  Entry* entries_ = nullptr;  // a heap, the heaviest first
  size_t count_ = 0;
  size_t bytes_ = 0;
};

}  // namespace memprof
