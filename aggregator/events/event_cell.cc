#include "aggregator/events/event_cell.h"

#include <sys/prctl.h>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/events/python_frames.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/unwind/nested_stack.h"
#include "core/protocol/sample_weight.h"

namespace memprof {
namespace {

uint32_t ReadThreadName() {
  if (SystemCallsFiltered()) return kFirstThreadName;
  char name[16] = {};
  kernel::Call(SYS_prctl, PR_GET_NAME, name);
  return stacks.ThreadName(name);
}

void CountTrouble(const CaptureResult& capture) {
  if (capture.truncated) Count(process_region.header().truncated_stacks);
  if (capture.incomplete) Count(process_region.header().incomplete_stacks);
}

uint32_t LabelOf(uint32_t thread_name, const Caller& caller, uint32_t size_class = 0) {
  return SiteLabel(thread_name, static_cast<uint32_t>(caller.kind), size_class);
}

[[gnu::noinline]] Where CellOfNewStack(ThreadSlot& slot, const Caller& caller,
                                       const CaptureResult& capture, const Splice* splice) {
  const uint32_t label = LabelOf(slot.thread_name, caller);
  const Where where = CellOfSite(&slot, stacks.Site(slot.stack, capture, label, splice));
  if (where.own() && splice == nullptr) {
    slot.recent.Remember(slot.stack, capture, TagOf(caller), where.cell());
  }
  if (!HasPythonFrames()) LookForPythonInNewModules();
  AnswerReader(caller.registers);
  return where;
}

// A captured stack was repeated.
[[gnu::noinline]] void NoteComesAgain(ThreadSlot& slot, const Caller& caller, uint32_t cell) {
  if (slot.verified == nullptr) slot.verified = NewVerifiedStacks();
  if (slot.verified == nullptr) return;
  AnswerReader(caller.registers);
  PythonWords python;
  if (HasPythonFrames() && !WordsOfPython(slot, python)) return;
  slot.verified->Remember(caller.registers, slot.stack, cell, TagOf(caller), python.words,
                          python.count);
  if (slot.verified->wants_to_grow()) GrowVerifiedStacks(*slot.verified);
}

// The cell of the stack that was just captured into the slot's memory.
Where CellOfCapture(ThreadSlot& slot, const Caller& caller, CaptureResult& capture) {
  // Recent stacks are told apart by their native frames alone.
  const Splice* const splice = HasPythonFrames() ? PythonFramesOf(slot, capture) : nullptr;
  const uint32_t known = splice == nullptr ? slot.recent.Find(slot.stack, capture, TagOf(caller))
                                           : RecentStacks::kNone;
  return known != RecentStacks::kNone ? Where::Own(known)
                                      : CellOfNewStack(slot, caller, capture, splice);
}

}  // namespace

Where CellOfSite(ThreadSlot* slot, uint32_t site) {
  const uint32_t cell = slot != nullptr ? slot_cells.Find(*slot, site) : kNoCell;
  return cell != kNoCell ? Where::Own(cell) : Where::Shared(SharedCell(process_region, site));
}

[[gnu::noinline]] void NoteNewName(ThreadSlot& slot) {
  slot.name_changed.store(0, std::memory_order_relaxed);
  slot.thread_name = ReadThreadName();
  slot.recent.Forget();
  if (slot.verified != nullptr) slot.verified->Forget();
}

[[gnu::noinline]] Where CellWithoutSlot(const Caller& caller, uint32_t size_class) {
  const NestedStack nested;
  if (nested.get() == nullptr) {
    Count(process_region.header().tables_full_events);
    return CellOfSite(nullptr, kTablesFullSite);
  }
  const CaptureResult capture = CaptureStack(caller.registers, *nested.get());
  CountTrouble(capture);
  const uint32_t label = LabelOf(ReadThreadName(), caller, size_class);
  return CellOfSite(nullptr, stacks.Site(*nested.get(), capture, label));
}

[[gnu::noinline]] Where CellOfCaptured(ThreadSlot& slot, const Caller& caller) {
  CaptureResult capture = CaptureStack(caller.registers, slot.stack);
  if (__builtin_expect(capture.truncated || capture.incomplete, 0)) CountTrouble(capture);
  const Where where = CellOfCapture(slot, caller, capture);
  const bool came_before =
      where.own() &&
      CellAt(process_region, where.cell()).allocated_count.load(std::memory_order_relaxed) != 0;
  if (came_before) NoteComesAgain(slot, caller, where.cell());
  return where;
}

[[gnu::noinline]] Where CellOfVerified(ThreadSlot& slot, const Caller& caller, uint32_t cell) {
  CaptureResult capture = CaptureStack(caller.registers, slot.stack);
  const Where where = CellOfCapture(slot, caller, capture);
  if (!where.own() || where.cell() != cell) Count(process_region.header().dropped_events);
  return where;
}

Where CellForSample(ThreadSlot* slot, size_t size, const Caller& caller) {
  const uint32_t size_class = SizeClass(size);
  if (slot == nullptr) return CellWithoutSlot(caller, size_class);
  if (slot->name_changed.load(std::memory_order_relaxed) != 0) NoteNewName(*slot);
  CaptureResult capture = CaptureStack(caller.registers, slot->stack);
  CountTrouble(capture);
  const Splice* const splice = HasPythonFrames() ? PythonFramesOf(*slot, capture) : nullptr;
  const uint32_t label = LabelOf(slot->thread_name, caller, size_class);
  const uint32_t site = stacks.Site(slot->stack, capture, label, splice);
  if (!HasPythonFrames()) LookForPythonInNewModules();
  return CellOfSite(slot, site);
}

}  // namespace memprof
