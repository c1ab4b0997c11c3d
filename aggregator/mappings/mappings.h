// Mappings: what the hooks of mmap and its like call.
//
// Thread safety, failure, errno: as tracker.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/mappings/mapping_event.h"
#include "aggregator/tracker.h"

namespace memprof {

// Whether the call of a hook is one of the program, of which mappings are to be followed. Not those
// of the allocator: by its own code, or within an event of the heap; nor the tracker's.
bool FollowsMapping(const Caller& caller);

// Pre of the others: FollowsMapping.
uint64_t MappingStamp();

// What `event` has mapped belongs to the caller. `fd`: the file of a mapping of a file.
void EnterMapping(MappingEvent& event, const Caller& caller, int fd = -1);

// For what takes away or protects.
void EnterUnmapping(const MappingEvent& event);

// The region is there. False: no memory.
bool InitMappings();
// In a forked child, which has one thread and a new region: what it maps from now on is followed;
// what it has from its parent isn't known.
void RestartMappings();

}  // namespace memprof
