#include "core/snapshot/memory_record.h"

#include <utility>

#include "core/snapshot/allocator_tells.h"

namespace memprof {

std::vector<MemoryPart> PartsOf(const MemorySample& sample) {
  std::vector<MemoryPart> parts;
  int64_t rest = static_cast<int64_t>(sample.rss_bytes);
  auto add = [&](std::string name, std::string meaning, int64_t bytes) {
    rest -= bytes;
    parts.push_back({std::move(name), std::move(meaning), bytes});
  };
  auto signed_of = [](uint64_t bytes) { return static_cast<int64_t>(bytes); };
  // The allocator's pages: the parts known to be in them, and the rest.
  int64_t allocators = signed_of(sample.anonymous_bytes);
  auto within = [&](std::string name, std::string meaning, int64_t bytes) {
    allocators -= bytes;
    add(std::move(name), std::move(meaning), bytes);
  };
  const AllocatorSample& said = sample.allocator;
  within("live", "live requested bytes", signed_of(sample.live_bytes));
  if (said.allocated_bytes) {
    // For the blocks that were live when the allocator gave its figures: blocks came and went
    // since.
    within(
        "rounding", "rounding and headers of live blocks",
        signed_of(*said.allocated_bytes) - signed_of(said.live_bytes.value_or(sample.live_bytes)));
  }
  if (said.cached_bytes) {
    within("thread_caches", "thread caches", signed_of(*said.cached_bytes));
  }
  if (said.free_bytes) {
    within("free", "free blocks and pages that the allocator keeps", signed_of(*said.free_bytes));
  }
  if (said.metadata_bytes) {
    within("metadata", "the allocator's own tables", signed_of(*said.metadata_bytes));
  }
  if (allocators < 0) {
    add("not_resident",
        Tells(said) ? "of the above, never touched or given back to the system"
                    : "of the above, never touched or given back, less what the allocator keeps",
        allocators);
  } else {
    add("allocator_other",
        Tells(said) ? "private memory beyond what the allocator tells"
                    : "rounding, headers, free blocks and pages that the allocator keeps",
        allocators);
  }
  add("mapped", "mapped by the program", signed_of(sample.mapped_bytes));
  add("mapped_files", "files mapped by the program", signed_of(sample.mapped_file_bytes));
  add("files", "the program and its libraries", signed_of(sample.file_bytes));
  add("stacks", "stacks", signed_of(sample.stack_bytes));
  add("tracker", "memprof's own", signed_of(sample.tracker_bytes));
  parts.push_back({"unexplained", "unexplained", rest});
  return parts;
}

const MemorySample* HighestOf(const MemoryRecord& record) {
  const MemorySample* highest = nullptr;
  for (const MemorySample& sample : record.samples) {
    if (highest == nullptr || sample.rss_bytes > highest->rss_bytes) highest = &sample;
  }
  return highest;
}

const char* NameOf(AllocatorProvider provider) {
  switch (provider) {
    case AllocatorProvider::kGlibc:
      return "glibc";
    case AllocatorProvider::kJemalloc:
      return "jemalloc";
    case AllocatorProvider::kTcmalloc:
      return "tcmalloc";
    case AllocatorProvider::kMimalloc:
      return "mimalloc";
    case AllocatorProvider::kNone:
      break;
  }
  return "none";
}

}  // namespace memprof
