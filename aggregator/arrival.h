// How the tracker came into its process: preloaded (arrival_preloaded.cc) or attached
// (attach/arrival_attached.cc). Which of them it is the linker decides: two libraries of the same
// tracker.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "aggregator/handshake_client.h"

namespace memprof {

// The function behind our hook of that name, as the program's references are bound; nullptr: nobody
// has it. Called where loaded_symbols.h may be; preloaded, it neither locks nor allocates.
void* FindReal(const char* name);

// The same at any later time; it may lock and allocate (libc_functions.h, AskLoader).
void* FindGlobal(const char* name);

// Where this process is to count: the supervisor's region, or one that the environment asks for.
// Called once, by one thread. Null: nowhere.
MappedRegion GetRegion();

// The process exits, and counts.
void NoteExit();

// All is in place, and the next step is to count. False: better not.
bool BeforeCounting();

// A block is freed whose allocation was not seen.
void CountUnseenFree(const void* address);

// The same of a realloc, which may fail: what it is about to take, 0 for nothing to count; then,
// if it took it.
uint64_t UnseenSize(const void* address);
void CountUnseenRealloc(uint64_t size);

// The same of an operator delete, afterwards.
void CountUnseenDelete(uint64_t size);

}  // namespace memprof
