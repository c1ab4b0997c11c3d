#include "aggregator/unwind/unwind_data.h"

#include "aggregator/unwind/module_segments.h"

namespace memprof {
namespace {

FindObject g_find_object = nullptr;

// The entry for the code at `pc`, and the bytes that it is in.
CfiResult FindFdeOf(uintptr_t pc, uintptr_t& fde, ByteRange& bytes) {
  if (g_find_object == nullptr) return CfiResult::kNoData;
  struct dl_find_object object;
  if (g_find_object(reinterpret_cast<void*>(pc), &object) != 0) return CfiResult::kNoData;
  const auto header = reinterpret_cast<uintptr_t>(object.dlfo_eh_frame);
  if (object.dlfo_map_start == nullptr || header == 0) return CfiResult::kNoData;
  const ModuleSegments segments = SegmentsOf(object);
  bytes = segments.Holding(header);
  if (bytes.size() == 0) return CfiResult::kUnsupported;
  const CfiResult found = FindFde(bytes, header, pc, fde);
  if (found == CfiResult::kFound && !bytes.Contains(fde)) bytes = segments.Holding(fde);
  return found;
}

}  // namespace

bool InitUnwindData() {
  g_find_object = TheLibc().find_object;
  if (g_find_object == nullptr) return false;
  InitModuleSegments(g_find_object);
  return true;
}

CfiResult FindRow(uintptr_t pc, CfiRow& row, ByteRange& bytes) {
  uintptr_t fde = 0;
  const CfiResult found = FindFdeOf(pc, fde, bytes);
  return found == CfiResult::kFound ? InterpretFde(bytes, fde, pc, row) : found;
}

bool FindFunction(uintptr_t pc, ByteRange& function) {
  uintptr_t fde = 0;
  ByteRange bytes;
  return FindFdeOf(pc, fde, bytes) == CfiResult::kFound && ExtentOfFde(bytes, fde, function) &&
         function.Contains(pc);
}

}  // namespace memprof
