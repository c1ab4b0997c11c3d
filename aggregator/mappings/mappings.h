// Mappings: what the hooks of mmap and similar functions call.
//
// Thread safety, failure, errno: as events/heap_events.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/events/caller.h"
#include "aggregator/mappings/mapping_event.h"
#include "aggregator/unwind/byte_cursor.h"

namespace memprof {

// True if the call of a hook is the program's, so that its mappings are followed; also by a signal
// handler that interrupted a hook. False for calls by the allocator's own code, and, with another
// allocator than glibc's, for all calls within it.
bool FollowsMapping(const Caller& caller);

// Calls by this code aren't followed from now on: it maps for an allocator whose blocks are counted.
// Called once, while the process has one thread.
void LeaveOutMappingsOf(ByteRange code);

// The program's mappings changed in a way that isn't known: counts a lost event.
void NoteUnknownMapping();

// Precondition of the others: FollowsMapping.
uint64_t MappingStamp();

// Books the memory that `event` has mapped for the caller. `fd`: the file, for a mapping of a file.
void EnterMapping(MappingEvent& event, const Caller& caller, int fd = -1);

// For events that take away or protect.
void EnterUnmapping(const MappingEvent& event);

// Call it when the region is attached. False: no memory.
bool InitMappings();
// In a forked child, which has one thread and a new region: its new mappings are followed; those
// from its parent aren't known.
void RestartMappings();

}  // namespace memprof
