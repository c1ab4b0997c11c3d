// Any bytes as .eh_frame_hdr and .eh_frame. Steps are made by the rows that are found in them, with
// any registers and any stack. Nothing is read outside the bytes (they are in a block of their
// size, which the sanitizer watches) or the stack; every loop ends.
//
//   input   the pc whose row is searched: 2 bytes, signed, from the block's begin
//           the header's offset: 1 byte; 255: none, the record is at the next byte's offset
//           that offset: 1 byte
//           registers: 1 byte for each, an offset in the stack, 255: not known
//           the block; a copy of its end is the stack

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "aggregator/basics/system_calls.h"
#include "aggregator/unwind/cfi_interpreter.h"
#include "aggregator/unwind/module_segments.h"
#include "aggregator/unwind/registers.h"

namespace {

using namespace memprof;

constexpr size_t kPage = 4096;
constexpr size_t kFixedBytes = 4 + kRegisterCount;

unsigned char* Page(int behind) {
  auto* page = static_cast<unsigned char*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (page == MAP_FAILED || mprotect(page + kPage, kPage, behind) != 0) std::abort();
  return page;
}

void CheckRow(const CfiRow& row, ByteRange bytes) {
  auto check = [&](int64_t offset, uint64_t size) {
    if (offset < 0 || static_cast<uint64_t>(offset) + size > bytes.size()) std::abort();
  };
  if (row.cfa_kind == CfaKind::kExpression) check(row.cfa_offset, row.cfa_expression_bytes);
  for (const RegisterRule& rule : row.registers) {
    if (rule.kind == RuleKind::kExpression || rule.kind == RuleKind::kValExpression) {
      check(rule.value, rule.expression_bytes);
    }
    if (rule.kind == RuleKind::kRegister && static_cast<uint32_t>(rule.value) >= kRegisterCount) {
      std::abort();
    }
  }
}

// The block as the first page of a library; nothing after its end may be read.
void FindSegments(const uint8_t* block, size_t size) {
  static unsigned char* const page = Page(PROT_NONE);
  std::memset(page, 0, kPage);
  std::memcpy(page, block, std::min(size, kPage));
  struct dl_find_object object = {};
  object.dlfo_map_start = page;
  object.dlfo_map_end = page + kPage;
  object.dlfo_eh_frame = page + kPage / 2;
  const ModuleSegments segments = SegmentsOf(object);
  if (segments.count != 0) (void)segments.Holding(reinterpret_cast<uintptr_t>(page));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // From then on only the stack's own page is readable: pages that aren't known to be readable
  // aren't read.
  AllowOnly(SystemCalls::kOfAllocators);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kFixedBytes) return 0;
  static unsigned char* const stack_page = Page(PROT_NONE);
  const size_t block_bytes = size - kFixedBytes;
  const std::unique_ptr<uint8_t[]> block(new uint8_t[block_bytes]);
  if (block_bytes != 0) std::memcpy(block.get(), data + kFixedBytes, block_bytes);
  const auto begin = reinterpret_cast<uintptr_t>(block.get());
  const ByteRange bytes = {begin, begin + block_bytes};
  int16_t from_begin;
  std::memcpy(&from_begin, data, sizeof from_begin);
  const uintptr_t pc = begin + static_cast<uintptr_t>(intptr_t{from_begin});

  uintptr_t fde = begin + data[3];
  if (data[2] != 255 && FindFde(bytes, begin + data[2], pc, fde) != CfiResult::kFound) {
    FindSegments(block.get(), block_bytes);
    return 0;
  }
  CfiRow row;
  if (InterpretFde(bytes, fde, pc, row) != CfiResult::kFound) return 0;
  CheckRow(row, bytes);

  std::memset(stack_page, 0, kPage);
  const size_t copied = std::min(block_bytes, kPage);
  if (copied != 0) std::memcpy(stack_page, block.get() + block_bytes - copied, copied);
  const auto stack_begin = reinterpret_cast<uintptr_t>(stack_page);
  Registers registers = {};
  for (uint32_t i = 0; i < kRegisterCount; ++i) {
    const uint8_t offset = data[4 + i];
    if (offset != 255) registers.Set(i, stack_begin + offset * 16u);
  }
  const Registers before = registers;
  const ReadableStack stack({}, stack_begin);
  if (StepByRow(row, bytes, stack, registers) != FullStep::kStepped &&
      std::memcmp(&before, &registers, sizeof before) != 0) {
    std::abort();
  }
  return 0;
}
