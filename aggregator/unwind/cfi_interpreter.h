// The CFI interpreter: from a module's .eh_frame_hdr and .eh_frame to the CfiRow of one pc.
//
//   FindFde       .eh_frame_hdr's sorted table → the FDE (frame description entry) that covers pc
//   InterpretFde  the FDE's CIE (common to many FDEs) and its own instructions up to pc
//
// The result depends on the given bytes only, so a fuzzer can call these functions. No read goes
// beyond `bytes`, and no loop runs longer than `bytes` allows: the FDE's instructions are read at
// most kOpenRows + 2 times.
//
// Thread safety: pure. Async-signal-safe; the deepest path needs less than 1 KiB of stack.
// Failure: a CfiResult; the row then means nothing. Unsupported: more than kOpenRows rows
// remembered at one pc, 64-bit DWARF, indirect pointers, a header without its sorted table,
// augmentations other than z, R, P, L, S and B.
// Source: the LSB's "Exception Frames" and DWARF 5, section 6.4.
#pragma once

#include <cstdint>

#include "aggregator/unwind/byte_cursor.h"
#include "aggregator/unwind/cfi_row.h"

namespace memprof {

enum class CfiResult : uint8_t {
  kFound,
  kNoData,       // there is no entry for this pc
  kUnsupported,  // well-formed as far as it was read, but this interpreter can't do it
  kMalformed,
};

inline constexpr uint32_t kOpenRows = 16;  // compilers nest one deep

// The FDE that the sorted table at `header` names for `pc`: the last one that begins at or before
// it. InterpretFde checks whether it extends to `pc`.
CfiResult FindFde(ByteRange header_bytes, uintptr_t header, uintptr_t pc, uintptr_t& fde);

// The code that the FDE covers. False: it is malformed. REQUIRES: as InterpretFde.
bool ExtentOfFde(ByteRange bytes, uintptr_t fde, ByteRange& code);

// Runs the CFI at `fde` up to `pc`. kNoData if the FDE doesn't cover `pc`. REQUIRES: `bytes` holds
// the FDE and its CIE.
CfiResult InterpretFde(ByteRange bytes, uintptr_t fde, uintptr_t pc, CfiRow& row);

}  // namespace memprof
