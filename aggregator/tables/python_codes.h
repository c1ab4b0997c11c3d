// PythonCodes: from the address of a code object to its record in the region.
//
// Code objects die, and others are made at their address. So the interpreter's function that frees
// them is wrapped (events/python_code_deaths.h), and tells this table. A code object that is made again
// with the same content (a module that is loaded again, a function that is made in a loop) gets the
// record of the one before.
//
//   address ─► record              by open addressing; an entry whose code died keeps its place
//   content ─► record              by InternIndex
//   file ─► a record with it       likewise: a file's name is kept once
//
// Thread safety: any thread, also a signal handler; lock-free. Two threads that meet a code object
// at once may both enter it; equal records are merged when read.
// Memory: 1 MiB of address space, touched as it fills.
// Memory order: a record is complete before `filled` and its entry are released.
// Failure: kNone if the region has no room.
// Invariants
//   1. An entry with a record belongs to a code object that lives: it is on the stack of the thread
//      that entered it, and its death clears the entry.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/python/code_object.h"
#include "aggregator/tables/intern_index.h"

namespace memprof {

class PythonCodes {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  constexpr explicit PythonCodes(const Region& region) : region_(region) {}

  // Pre: the region is attached, and nobody else uses the table. Forgets everything. False: no
  // memory.
  bool Start();
  // Gives the memory back. Only when nobody uses the table any more (tests).
  void Stop();

  // The record of a code object that was entered; kNone: it wasn't.
  uint32_t Find(uintptr_t address) const;

  // Enters a code object that the calling thread runs. kNone: there is no room.
  uint32_t Enter(const InterpreterLayout& layout, const InterpreterMemory& memory,
                 uintptr_t address, const CodeObject& code);

  // The code object is being freed. True: it had an entry.
  bool Forget(uintptr_t address);

 private:
  struct Entry {
    std::atomic<uintptr_t> address;  // 0: free; never changes after
    std::atomic<uint32_t> record_plus_one;
    uint32_t reserved;
  };
  static constexpr uint32_t kEntries = 1u << 16;
  static constexpr uint32_t kMostEntries = kEntries / 4 * 3;

  Entry* Place(uintptr_t address) const;
  Entry* NewPlace(uintptr_t address);
  uint32_t RecordOf(const InterpreterLayout& layout, const InterpreterMemory& memory,
                    const CodeObject& code);

  const Region& region_;
  Entry* entries_ = nullptr;
  std::atomic<uint32_t> used_{0};
  std::atomic<uint64_t> touched_[4] = {};  // a bit for each page of entries
  InternIndex contents_;
  InternIndex files_;
};

}  // namespace memprof
