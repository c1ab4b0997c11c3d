#include "aggregator/tables/stack_table.h"

#include <cstring>

#include "aggregator/basics/private_memory.h"
#include "aggregator/tables/allocator_code.h"
#include "aggregator/tables/shared_cells.h"

namespace memprof {
namespace {

constexpr uint32_t kRootNode = 0;
constexpr char kOtherThreads[16] = "[other threads]";
static_assert(sizeof "[other threads]" == 16, "fits the kernel's 15 bytes exactly");

struct NameWords {
  uint64_t first;
  uint64_t second;
};
static_assert(sizeof(NameWords) == sizeof(ThreadNameRecord));

NameWords WordsOf(const char (&name)[16]) {
  char padded[16] = {};
  for (size_t i = 0; i < sizeof padded - 1 && name[i] != 0; ++i) padded[i] = name[i];
  // An empty name differs from an empty record by a byte after its end.
  if (padded[0] == 0) padded[15] = 1;
  NameWords words;
  memcpy(&words, padded, sizeof words);
  return words;
}

// The node of the stack's innermost frame outside the allocator; `leaf` if all are inside. The
// allocator's frames have nodes too: the next capture would take missing ones for known.
uint32_t WithoutAllocator(const StackMemory& memory, uint32_t depth, uint32_t leaf) {
  uint32_t outer = depth;
  while (outer > 0 && allocator_code.Has(memory.frames[outer - 1].pc)) --outer;
  return outer == depth || outer == 0 ? leaf : memory.frames[outer - 1].node;
}

}  // namespace

bool StackTable::Init() {
  first_site_bytes_ = uint64_t{region_.capacity(Table::kNodes)} * sizeof(uint32_t);
  first_site_plus_one_ = static_cast<std::atomic<uint32_t>*>(MapMemory(first_site_bytes_));
  if (first_site_plus_one_ == nullptr || !modules_.Start()) return false;
  if (region_.Take(Table::kNodes) != kRootNode) return false;
  const uint32_t other = region_.Take(Table::kThreadNames);
  memcpy(region_.Records<ThreadNameRecord>(Table::kThreadNames)[other].name, kOtherThreads, 16);
  bool replaced = false;
  return NewSite(Node(kRootNode, kPcTablesFull, &replaced), other) == kTablesFullSite;
}

bool StackTable::Restart() {
  node_index_.Destroy();
  site_index_.Destroy();
  if (first_site_plus_one_ != nullptr) UnmapMemory(first_site_plus_one_, first_site_bytes_);
  return Init();
}

uint32_t StackTable::NewRow(uint64_t pc) {
  bool replaced = false;
  return NewSite(Node(kRootNode, pc, &replaced), 0);
}

// A record that was taken and not written yet is all zeros. A name is written with its first word
// last, and counts from then on.
uint32_t StackTable::ThreadName(const char (&name)[16]) {
  uint64_t* const words = region_.Records<uint64_t>(Table::kThreadNames);
  const NameWords wanted = WordsOf(name);
  const uint32_t count = region_.count(Table::kThreadNames);
  for (uint32_t i = 1; i < count; ++i) {
    if (__atomic_load_n(&words[2 * i], __ATOMIC_ACQUIRE) == wanted.first &&
        __atomic_load_n(&words[2 * i + 1], __ATOMIC_RELAXED) == wanted.second) {
      return i;
    }
  }
  const uint32_t index = region_.Take(Table::kThreadNames);
  if (index == kNoRecord) return 0;
  __atomic_store_n(&words[2 * index + 1], wanted.second, __ATOMIC_RELAXED);
  __atomic_store_n(&words[2 * index], wanted.first, __ATOMIC_RELEASE);
  return index;
}

uint32_t StackTable::Site(StackMemory& memory, const CaptureResult& capture, uint32_t label,
                          const Splice* splice) {
  bool replaced = false;
  uint32_t node = Leaf(memory, capture, splice, capture.unchanged, &replaced);
  // Frames before the new module's may have been taken for those of the module that it replaced.
  if (replaced) node = Leaf(memory, capture, splice, 0, &replaced);
  if (node != kNoRecord) return SiteOf(WithoutAllocator(memory, capture.depth, node), label);
  // The next capture must not take the missing nodes for known.
  memory.depth = 0;
  region_.header().tables_full_events.fetch_add(1, std::memory_order_relaxed);
  return kTablesFullSite;
}

// The node of the Python frames that follow the native frame `after`, from `node` on. `left`: how
// many of the splice's frames have no node yet, these and further in.
uint32_t StackTable::PythonNodes(const Splice& splice, int32_t after, uint32_t* left, uint32_t node,
                                 bool* replaced) {
  while (*left > 0 && splice.frames[*left - 1].after <= after && node != kNoRecord) {
    --*left;
    const uint64_t word = splice.frames[*left].word;
    if (word != 0) node = Node(node, word, replaced);
  }
  return node;
}

uint32_t StackTable::Leaf(StackMemory& memory, const CaptureResult& capture, const Splice* splice,
                          uint32_t known, bool* replaced) {
  uint32_t left = splice != nullptr ? splice->count : 0;
  const bool cut = left > 0 && splice->cut;
  uint32_t node = kRootNode;
  if (known > 0) {
    node = memory.frames[known - 1].node;
    while (left > 0 && splice->frames[left - 1].after < static_cast<int32_t>(known)) --left;
  } else {
    if (capture.truncated || capture.incomplete || cut || capture.depth == 0) {
      const uint64_t row = capture.depth == 0         ? kPcNoStack
                           : capture.truncated || cut ? kPcTruncated
                                                      : kPcIncomplete;
      node = Node(kRootNode, row, replaced);
    }
    if (cut) {
      const int32_t first = splice->frames[left - 1].after;
      for (; static_cast<int32_t>(known) <= first; ++known) memory.frames[known].node = node;
    }
    node = left > 0 ? PythonNodes(*splice, static_cast<int32_t>(known) - 1, &left, node, replaced)
                    : node;
    if (known > 0 && node != kNoRecord) memory.frames[known - 1].node = node;
  }
  for (; known < capture.depth && node != kNoRecord; ++known) {
    node = Node(node, memory.frames[known].pc, replaced);
    if (left > 0 && node != kNoRecord) {
      node = PythonNodes(*splice, static_cast<int32_t>(known), &left, node, replaced);
    }
    memory.frames[known].node = node;
  }
  return node;
}

uint32_t StackTable::Lookup(uint32_t parent, uint64_t pc, uint64_t hash) {
  const auto* nodes = region_.Records<NodeRecord>(Table::kNodes);
  return node_index_.Find(hash, [&](uint32_t id) {
    return nodes[id].pc.load(std::memory_order_relaxed) == pc && nodes[id].parent == parent &&
           !modules_.IsUnloaded(nodes[id].module);
  });
}

uint32_t StackTable::Node(uint32_t parent, uint64_t pc, bool* replaced) {
  const uint64_t hash = MixHash(pc, parent);
  const uint32_t found = Lookup(parent, pc, hash);
  return found != InternIndex::kNone ? found : NewNode(parent, pc, hash, replaced);
}

uint32_t StackTable::NewNode(uint32_t parent, uint64_t pc, uint64_t hash, bool* replaced) {
  uint32_t module = kNoModule;
  if (pc >= kFirstRealPc && !IsPythonWord(pc)) {
    const ModuleTable::Found found = modules_.Find(pc);
    module = found.module;
    // The module is at the place of another one, which was unloaded unseen (iconv, NSS).
    if (found.replaced) InvalidateUnwinder();
    *replaced |= found.replaced;
    if (found.again) {
      const uint32_t known = Lookup(parent, pc, hash);
      if (known != InternIndex::kNone) return known;
    }
  }
  // One that isn't found again would be taken at each event.
  const uint32_t id = node_index_.HasRoom() ? region_.Take(Table::kNodes) : kNoRecord;
  if (id == kNoRecord) return kNoRecord;
  if (id % 1024 == 0) CountPrivateBytes(4096);  // of first_site_plus_one_
  NodeRecord& node = region_.Records<NodeRecord>(Table::kNodes)[id];
  node.parent = parent;
  node.module = module;
  node.pc.store(pc, std::memory_order_release);
  node_index_.Insert(hash, id);
  return id;
}

uint32_t StackTable::SiteOf(uint32_t node, uint32_t label) {
  const auto* sites = region_.Records<SiteRecord>(Table::kSites);
  const uint32_t first = first_site_plus_one_[node].load(std::memory_order_acquire);
  if (first != 0 && sites[first - 1].label == label) return first - 1;
  if (first != 0) {
    const uint32_t found = site_index_.Find(MixHash(node, label), [&](uint32_t id) {
      return sites[id].node.load(std::memory_order_relaxed) == node && sites[id].label == label;
    });
    if (found != InternIndex::kNone) return found;
  }
  return NewSite(node, label);
}

uint32_t StackTable::NewSite(uint32_t node, uint32_t label) {
  const bool is_findable =
      node != kNoRecord &&
      (first_site_plus_one_[node].load(std::memory_order_relaxed) == 0 || site_index_.HasRoom());
  const uint32_t id = is_findable ? region_.Take(Table::kSites) : kNoRecord;
  if (id == kNoRecord || !KeepSharedCell(region_, id)) {
    region_.header().tables_full_events.fetch_add(1, std::memory_order_relaxed);
    return kTablesFullSite;
  }
  SiteRecord& site = region_.Records<SiteRecord>(Table::kSites)[id];
  site.label = label;
  site.node.store(node, std::memory_order_release);
  uint32_t none = 0;
  if (!first_site_plus_one_[node].compare_exchange_strong(none, id + 1, std::memory_order_acq_rel,
                                                          std::memory_order_relaxed)) {
    site_index_.Insert(MixHash(node, label), id);
  }
  return id;
}

}  // namespace memprof
