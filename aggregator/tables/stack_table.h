// StackTable: from a captured stack to the dense id of its site: (call tree node, label).
//
//   frames  _start  main  f         root first
//   nodes   1 ──── 2 ──── 3         node = (parent node, pc); kept in the region
//   site    (3, "main") → 0         the key of the figures; kept in the region. Its label is the
//           thread
//                                   name, the allocator's function, and for sampled blocks the size
//                                   class
//
// Python frames are nodes as well, between those of the native frames (Splice).
//
// The innermost frames that are an allocator's own (allocator_code.h) are left out of the site.
//
// Only the frames that changed since the thread's previous capture are looked up: the others carry
// their node in StackMemory.
//
// Thread safety: any thread, also a signal handler; lock-free (InternIndex).
// Invariants
//   1. Equal stacks with equal labels have one site. The exceptions are threads that meet a new
//      stack at the same moment, and stacks through a module that was loaded again at another
//      place.
//   2. Site 0 is the row "[tables full]"; it is there from the start, so booking never fails.
//   3. A node never changes its meaning: while its module isn't loaded it isn't found.
// Failure: if a table is full, the event is booked under site 0 and counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/python/frame_chain.h"
#include "aggregator/tables/intern_index.h"
#include "aggregator/tables/module_table.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// Python frames for a captured stack. `chain` has them innermost first; those without a word are
// left out. A chain that was cut has only the innermost ones: the native frames up to where the
// outermost of them belongs are then left out too, so that what is kept is without a gap.
using Splice = FrameChain;

inline constexpr uint32_t kTablesFullSite = 0;
inline constexpr uint32_t kFirstThreadName = 1;  // the thread that allocated first

class StackTable {
 public:
  constexpr StackTable(const Region& region, ModuleTable& modules)
      : region_(region), modules_(modules) {}

  // Enters the fixed records. Pre: the region is attached. False: no memory.
  bool Init();

  // Pre: the region is another one, and nobody else uses the table. It is then as after Init, and
  // knows nothing.
  bool Restart();

  // A new site for a row that is no stack (kPc… of region_layout.h).
  uint32_t NewRow(uint64_t pc);

  // The site of the stack that was just captured into `memory`; writes the nodes into its frames.
  // A frame's node is that of the last Python frame that follows it, if there is one.
  uint32_t Site(StackMemory& memory, const CaptureResult& capture, uint32_t label,
                const Splice* splice = nullptr);

  // Soon no memory may be had any more: makes room for some thousand stacks.
  void Reserve() {
    constexpr size_t kFrames = 8192;
    constexpr size_t kFurtherSites = 1024;
    node_index_.Reserve(kFrames);
    site_index_.Reserve(kFurtherSites);
  }

  // The id of a thread's name (at most 15 bytes and a 0); 0 if there are too many names.
  uint32_t ThreadName(const char (&name)[16]);

 private:
  // The node of the whole stack, whose first `known` frames have their nodes; kNoRecord if a table
  // is full. `replaced` is set if a module was marked unloaded meanwhile; some of these frames may
  // be in it.
  uint32_t Leaf(StackMemory& memory, const CaptureResult& capture, const Splice* splice,
                uint32_t known, bool* replaced);
  uint32_t PythonNodes(const Splice& splice, int32_t after, uint32_t* left, uint32_t node,
                       bool* replaced);
  uint32_t Node(uint32_t parent, uint64_t pc, bool* replaced);
  uint32_t Lookup(uint32_t parent, uint64_t pc, uint64_t hash);
  uint32_t NewNode(uint32_t parent, uint64_t pc, uint64_t hash, bool* replaced);
  uint32_t SiteOf(uint32_t node, uint32_t label);
  uint32_t NewSite(uint32_t node, uint32_t label);

  const Region& region_;
  ModuleTable& modules_;
  InternIndex node_index_;
  InternIndex site_index_;  // the sites that are not their node's first
  std::atomic<uint32_t>* first_site_plus_one_ = nullptr;  // by node
  uint64_t first_site_bytes_ = 0;
};

}  // namespace memprof
