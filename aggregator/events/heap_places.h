// Tells readers of the region where this process's tables of live blocks are
// (core/protocol/heap_places.h).
//
// Thread safety: by the one thread that starts the tracker, before the first event is counted.
#pragma once

namespace memprof {

void PublishHeapPlaces();

}  // namespace memprof
