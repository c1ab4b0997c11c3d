// StackTable: from a captured stack to the dense id of its site: (call tree node, label).
//
//   frames  _start  main  f         root first
//   nodes   1 ──── 2 ──── 3         node = (parent node, pc); kept in the region
//   site    (3, "main") → 0         what figures are kept for; kept in the region. Its label is
//                                   the thread name, and the size class of sampled blocks
//
// The innermost frames that are an allocator's own (allocator_code.h) are left out of the site.
//
// Only the frames that changed since the thread's capture before are looked up: the others carry
// their node in StackMemory.
//
// Thread safety: any thread, also a signal handler; lock-free (InternIndex).
// Invariants
//   1. Equal stacks of equal label have one site, but for threads that meet a new stack at
//      the same moment, and for stacks through a module that was loaded again in another place.
//   2. Site 0 is the row "[tables full]"; it is there from the start, so booking never fails.
//   3. A node never changes its meaning: while its module isn't loaded it isn't found.
// Failure: a full table books under site 0 and counts the event.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/region.h"
#include "aggregator/tables/intern_index.h"
#include "aggregator/tables/module_table.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

inline constexpr uint32_t kTablesFullSite = 0;
inline constexpr uint32_t kFirstThreadName = 1;  // of the thread that allocated first

class StackTable {
 public:
  constexpr StackTable(const Region& region, ModuleTable& modules)
      : region_(region), modules_(modules) {}

  // Enters the fixed records. The region is attached. False: no memory.
  bool Init();

  // The region is another one, and nobody else uses the table: as after Init, with nothing known.
  bool Restart();

  // A new site of a row that is no stack (kPc… of region_layout.h).
  uint32_t NewRow(uint64_t pc);

  // The site of the stack that was just captured into `memory`; notes nodes in its frames.
  uint32_t Site(StackMemory& memory, const CaptureResult& capture, uint32_t label);

  // The id of a thread's name (at most 15 bytes and a 0); 0 where there are too many.
  uint32_t ThreadName(const char (&name)[16]);

 private:
  // The node of the whole stack, of which the first `known` frames have theirs; kNoRecord if a
  // table is full. `replaced` is set when a module was marked unloaded meanwhile, of which some of
  // these may be.
  uint32_t Leaf(StackMemory& memory, const CaptureResult& capture, uint32_t known, bool* replaced);
  uint32_t Node(uint32_t parent, uint64_t pc, bool* replaced);
  uint32_t Lookup(uint32_t parent, uint64_t pc, uint64_t hash);
  uint32_t NewNode(uint32_t parent, uint64_t pc, uint64_t hash, bool* replaced);
  uint32_t SiteOf(uint32_t node, uint32_t label);
  uint32_t NewSite(uint32_t node, uint32_t label);

  const Region& region_;
  ModuleTable& modules_;
  InternIndex node_index_;
  InternIndex site_index_;  // of sites that are not their node's first
  std::atomic<uint32_t>* first_site_plus_one_ = nullptr;  // by node
  uint64_t first_site_bytes_ = 0;
};

}  // namespace memprof
