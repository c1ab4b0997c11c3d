// What a capture has of each site beside its figures, section by section: which function allocated,
// what was temporary, the sizes. CAPTURE_FORMAT.md has the bytes.
//
// Encode… gives nothing for a snapshot that doesn't know: the section is left out then. Decode…
// comes after the sites and gives false for content that breaks the format; the snapshot is to be
// treated as one that doesn't know then (Forget…). Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeKinds(const Snapshot& snapshot);
std::string EncodeTemporary(const Snapshot& snapshot);
std::string EncodeSizes(const Snapshot& snapshot);

bool DecodeKinds(std::string_view raw, Snapshot& snapshot);
bool DecodeTemporary(std::string_view raw, Snapshot& snapshot);
bool DecodeSizes(std::string_view raw, Snapshot& snapshot);

void ForgetKinds(Snapshot& snapshot);
void ForgetTemporary(Snapshot& snapshot);
void ForgetSizes(Snapshot& snapshot);

}  // namespace memprof
