// UnwindData: from a pc to its CfiRow, through the loader's list of modules.
//
// `_dl_find_object` (glibc 2.35 and later) takes no lock and is async-signal-safe. Its results are
// mapped, but nothing in them is trusted: all bytes are read within one readable PT_LOAD segment of
// the module (module_segments.h).
//
// Thread safety: after InitUnwindData, any thread. Async-signal-safe.
// Failure: a CfiResult.
#pragma once

#include <cstdint>

#include "aggregator/unwind/byte_cursor.h"
#include "aggregator/unwind/cfi_interpreter.h"
#include "aggregator/unwind/cfi_row.h"

namespace memprof {

// False: this libc has no _dl_find_object.
bool InitUnwindData();

// The row of the code at `pc` (for a return address: one less), and the bytes that contain its
// expressions.
CfiResult FindRow(uintptr_t pc, CfiRow& row, ByteRange& bytes);

// The extent of the function, or of the part of one, that has the code at `pc`. False: it has no
// unwind data.
bool FindFunction(uintptr_t pc, ByteRange& function);

}  // namespace memprof
