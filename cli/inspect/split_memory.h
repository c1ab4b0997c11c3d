// SplitMemory: a copy's memory, but for what the program keeps out of its copies (MADV_DONTFORK,
// MADV_WIPEONFORK): that is read from the program, which goes on meanwhile.
//
// Ownership: both memories must outlive it. Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/inspect/heap_graph.h"
#include "core/inspect/memory_source.h"

namespace memprof {

class SplitMemory : public MemorySource {
 public:
  // `ranges`, by address and disjoint, are read from `program`.
  SplitMemory(const MemorySource& copy, const MemorySource& program,
              std::vector<AddressRange> ranges)
      : copy_(copy), program_(program), ranges_(std::move(ranges)) {}

  void Read(uint64_t address, std::span<unsigned char> to) const override {
    while (!to.empty()) {
      const Part part = PartAt(address, address + to.size());
      part.source->Read(address, to.first(part.end - address));
      to = to.subspan(part.end - address);
      address = part.end;
    }
  }
  uint64_t SkipZeros(uint64_t begin, uint64_t end) const override {
    while (begin < end) {
      const Part part = PartAt(begin, end);
      begin = part.source->SkipZeros(begin, part.end);
      if (begin < part.end) break;
    }
    return begin;
  }
  void Resident(uint64_t page, std::span<unsigned char> is) const override {
    while (!is.empty()) {
      const Part part = PartAt(page * kPage, (page + is.size()) * kPage);
      const uint64_t pages = part.end / kPage - page;
      part.source->Resident(page, is.first(pages));
      is = is.subspan(pages);
      page += pages;
    }
  }

 private:
  struct Part {
    const MemorySource* source;
    uint64_t end;
  };
  // The source of `address`, and up to where, at most `end`.
  Part PartAt(uint64_t address, uint64_t end) const {
    const auto range =
        std::lower_bound(ranges_.begin(), ranges_.end(), address,
                         [](const AddressRange& one, uint64_t at) { return one.end <= at; });
    if (range == ranges_.end() || range->begin >= end) return {&copy_, end};
    if (range->begin > address) return {&copy_, range->begin};
    return {&program_, std::min(end, range->end)};
  }

  const MemorySource& copy_;
  const MemorySource& program_;
  const std::vector<AddressRange> ranges_;
};

}  // namespace memprof
