#include "core/symbolizer/function_starts.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/symbolizer/elf_file.h"

namespace memprof {
namespace {

struct FreeFrame {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

// The header of .eh_frame_hdr, as linkers write it: version 1, then how the pointer to .eh_frame,
// the count and the table are encoded, the pointer, the count. The table has two numbers a
// function: its start and its entry in .eh_frame, both relative to the section.
constexpr uint8_t kVersion = 1;
constexpr uint8_t kTableEncoding = DW_EH_PE_datarel | DW_EH_PE_sdata4;
constexpr size_t kCountAt = 8;
constexpr size_t kTableAt = 12;
constexpr size_t kEntryBytes = 8;

std::vector<uint64_t> StartsIn(const Elf_Data& data, uint64_t section_address) {
  const auto* bytes = static_cast<const uint8_t*>(data.d_buf);
  if (bytes == nullptr || data.d_size < kTableAt || bytes[0] != kVersion ||
      bytes[2] != DW_EH_PE_udata4 || bytes[3] != kTableEncoding) {
    return {};
  }
  uint32_t count = 0;
  std::memcpy(&count, bytes + kCountAt, sizeof(count));
  const size_t room = (data.d_size - kTableAt) / kEntryBytes;
  std::vector<uint64_t> starts(std::min<size_t>(count, room));
  for (size_t i = 0; i < starts.size(); ++i) {
    int32_t offset = 0;
    std::memcpy(&offset, bytes + kTableAt + i * kEntryBytes, sizeof(offset));
    starts[i] = section_address + static_cast<uint64_t>(int64_t{offset});
  }
  std::sort(starts.begin(), starts.end());  // a damaged file's may be in any order
  return starts;
}

}  // namespace

FunctionStarts::FunctionStarts(Dwfl_Module* module) {
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module, &bias);
  if (elf == nullptr) return;
  GElf_Shdr header;
  Elf_Scn* section = FindSection(elf, [&](Elf_Scn*, const GElf_Shdr& of, std::string_view name) {
    header = of;
    return name == ".eh_frame_hdr";
  });
  // A file of debug info alone has the section without its contents.
  if (section == nullptr || header.sh_type == SHT_NOBITS) return;
  const Elf_Data* data = elf_rawdata(section, nullptr);
  Dwarf_Addr tables_bias = 0;
  tables_ = dwfl_module_eh_cfi(module, &tables_bias);
  if (data != nullptr && tables_ != nullptr) starts_ = StartsIn(*data, header.sh_addr);
}

std::optional<uint64_t> FunctionStarts::At(uint64_t address) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (next == starts_.begin()) return {};
  // Code without unwind information may lie behind a function that has some.
  Dwarf_Frame* found = nullptr;
  if (dwarf_cfi_addrframe(tables_, address, &found) != 0) return {};
  const std::unique_ptr<Dwarf_Frame, FreeFrame> frame(found);
  return *(next - 1);
}

}  // namespace memprof
