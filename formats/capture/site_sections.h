// The capture's sections with further facts on each site: the function that allocated, the
// temporary figures, the sizes, whether threads that still ran at the end hold the leaks. CAPTURE_FORMAT.md specifies the bytes.
//
// Encode… return nothing if the snapshot lacks the fact: the section is then left out. Decode… are
// called after the sites were decoded, and return false for content that breaks the format. The
// caller must then treat the snapshot as one that lacks the fact (Forget…). Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeKinds(const Snapshot& snapshot);
std::string EncodeTemporary(const Snapshot& snapshot);
std::string EncodeSizes(const Snapshot& snapshot);
std::string EncodeRunningThreads(const Snapshot& snapshot);

bool DecodeKinds(std::string_view raw, Snapshot& snapshot);
bool DecodeTemporary(std::string_view raw, Snapshot& snapshot);
bool DecodeSizes(std::string_view raw, Snapshot& snapshot);
bool DecodeRunningThreads(std::string_view raw, Snapshot& snapshot);

void ForgetKinds(Snapshot& snapshot);
void ForgetTemporary(Snapshot& snapshot);
void ForgetSizes(Snapshot& snapshot);
void ForgetRunningThreads(Snapshot& snapshot);

}  // namespace memprof
