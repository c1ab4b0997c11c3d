// What the tracker reads from a Python interpreter's memory: chains of frames and code objects that
// may lie, cycle or be torn. All memory but the input's can't be read, and a read of it is refused
// by the seam; so a fault, an endless loop or a write outside the tables is found here.
//
//   byte 0      version, 3.8 to 3.12
//   bytes 1, 2  the thread state's place
//   the rest    memory, from kBase on

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "aggregator/python/code_object.h"
#include "aggregator/python/frame_chain.h"
#include "aggregator/python/frame_places.h"
#include "aggregator/python/python_stack.h"
#include "aggregator/tables/python_codes.h"

namespace memprof {
namespace {

constexpr uintptr_t kBase = 0x10000;
constexpr uintptr_t kCodeType = 0x777000;

struct Input {
  const uint8_t* bytes;
  size_t size;
};

bool CopyInput(const void* context, uintptr_t address, void* to, size_t bytes) {
  const Input& input = *static_cast<const Input*>(context);
  if (address < kBase || address - kBase > input.size || bytes > input.size - (address - kBase)) {
    return false;
  }
  std::memcpy(to, input.bytes + (address - kBase), bytes);
  return true;
}

// A region of the smallest size. It is laid out once: that takes longer than all the rest.
class Memory {
 public:
  Memory() {
    RegionHeader layout = {};
    bytes_.resize(LayOutRegion(layout, 1 << 16) / sizeof(uint64_t) + 1);
    std::memcpy(bytes_.data(), &layout, sizeof layout);
    if (!region_.Attach(bytes_.data(), bytes_.size() * sizeof(uint64_t))) abort();
  }
  const Region& get() const { return region_; }

  // As laid out, as far as Python code is kept in it.
  void Clear() {
    std::memset(region_.Records<char>(Table::kPythonCodes), 0,
                size_t{region_.count(Table::kPythonCodes)} * sizeof(PythonCodeRecord));
    for (const Table table : {Table::kPythonCodes, Table::kPythonBytes}) {
      region_.header().counts[static_cast<size_t>(table)] = 0;
    }
  }

 private:
  std::vector<uint64_t> bytes_;
  Region region_;
};

}  // namespace
}  // namespace memprof

using namespace memprof;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  InterpreterLayout layout;
  if (!KnownLayout(8 + data[0] % 5, layout)) abort();
  const Input input = {data + 3, size - 3};
  const InterpreterMemory memory = {CopyInput, &input};
  static const auto chain = std::make_unique<FrameChain>();
  ReadChain(layout, memory, kBase + (data[1] | uintptr_t{data[2]} << 8), 0, *chain);
  if (chain->count > FrameChain::kCapacity || chain->cframe_count > FrameChain::kCapacity) abort();
  RememberedFrame native[8] = {};
  for (size_t i = 0; i < 8; ++i) native[i].slot = kBase + 0x4000 - i * 0x800;
  PlaceFrames(layout, EvalCode(), native, 8, *chain);
  for (uint32_t i = 0; i < chain->count; ++i) {
    if (chain->frames[i].after < -1 || chain->frames[i].after >= 8) abort();
  }
  uint64_t words[kPublishedWords] = {};
  std::memcpy(words, input.bytes, input.size < sizeof words ? input.size : sizeof words);
  InterpreterLayout published;
  if (PublishedLayout(words, published) == PythonState::kFrames &&
      published.frame_bytes > kMostFrameBytes) {
    abort();
  }
  static Memory region;
  region.Clear();
  PythonCodes codes(region.get());
  if (!codes.Start()) return 0;
  for (uint32_t i = 0; i < chain->count && i < 16; ++i) {
    const PythonFrame& frame = chain->frames[i];
    CodeObject code;
    if (!OpenCode(layout, memory, kCodeType, frame.code, code)) continue;
    const uint32_t record = codes.Enter(layout, memory, frame.code, code);
    if (record != PythonCodes::kNone && codes.Enter(layout, memory, frame.code, code) != record) {
      abort();
    }
    const int32_t instruction = InstructionOf(layout, frame);
    if (instruction < -1) abort();
  }
  codes.Stop();
  return 0;
}
