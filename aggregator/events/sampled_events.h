// SampledEvents: what a hook calls while only samples are counted. Samples are booked with their
// weight.
//
// A claimed block's size is in the live map's form (KeptSize, sampler.h). For blocks that aren't
// samples only MaybeSample may be called.
//
// Thread safety, failure, errno: as heap_events.h.
#pragma once

#include <cstddef>

#include "aggregator/events/caller.h"
#include "aggregator/events/claimed_block.h"

namespace memprof {

void OnSampled(void* address, size_t size, const Caller& caller);
void OnSampleFree(void* address);
ClaimedBlock ClaimSample(void* address);
// `sampled`: the new block is a sample. If neither block is, there is no event.
void OnSampleReallocated(const ClaimedBlock& old, void* address, size_t size, bool sampled,
                         const Caller& caller);
void OnSampleReallocFreed(const ClaimedBlock& old);
void OnSampleReallocFailed(const ClaimedBlock& old, void* address);

}  // namespace memprof
