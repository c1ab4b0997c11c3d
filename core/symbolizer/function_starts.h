// FunctionStarts: where the functions of a module begin, by its unwind tables (.eh_frame_hdr and
// .eh_frame), which stripped files have too.
//
// Thread safety: none. Ownership: the module must outlive it. Failure: a module without such tables,
// or with damaged ones, has no starts.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace memprof {

class FunctionStarts {
 public:
  explicit FunctionStarts(Dwfl_Module* module);

  // The start of the function that contains the address, in the file's own terms. A part that the
  // compiler moved away (".cold") counts as a function.
  std::optional<uint64_t> At(uint64_t address) const;

 private:
  std::vector<uint64_t> starts_;  // in order
  Dwarf_CFI* tables_ = nullptr;   // the module's; nullptr: none
};

}  // namespace memprof
