// The numbers of the capture format; CAPTURE_FORMAT.md is the specification.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof::capture_format {

inline constexpr char kMagic[8] = {'M', 'E', 'M', 'P', 'R', 'O', 'F', 'C'};
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kFileHeaderBytes = 16;     // magic, version, flags (0)
inline constexpr size_t kSectionHeaderBytes = 32;  // type, flags, stored, raw, checksum

enum SectionType : uint32_t {
  kProgram = 1,
  kTracker = 2,
  kModules = 3,
  kFrames = 4,
  kNodes = 5,
  kThreadNames = 6,
  kSites = 7,
  kSymbols = 8,   // the names of the frames, if they are stored; the last section
  kSampling = 9,  // only with sampling, before the sites
  kKinds = 12,    // after the sites, as all sections below except the timeline
  kTemporary = 13,
  kSizes = 14,
  kTimeline = 15,        // heap and RSS over time
  kMoments = 16,         // each site's live figures at the moments
  kNamed = 17,           // likewise at the named moments
  kSources = 18,         // only of a merge, before the sites
  kMappings = 19,        // memory that the program mapped itself
  kMemory = 21,          // where the RSS was
  kProcesses = 23,       // the figures of a merge by process
  kAttached = 26,        // only from a tracker that attached to a running program
  kAllocatorLive = 27,   // after the memory: the live bytes at the time of the allocator's figures
  kUnseen = 28,          // what is in no figure
  kMappingMoments = 29,  // after the moments and the mappings: what was mapped at the moments
  kPython = 30,          // the functions of Python frames, before the frames
  kRunningThreads = 39,  // after the sites: those that threads still running at the end allocated
  kInspection = 40,      // after the nodes: which blocks are lost, and what holds the others
  kNewest = kInspection,
  kEnd = 0x444e4521,  // "!END": its content is the number of sections before it
};

inline constexpr uint32_t kFlagZstd = 1;      // the stored bytes are a Zstandard frame
inline constexpr uint32_t kFlagCritical = 2;  // a reader that doesn't know the section has to stop

inline constexpr uint64_t kMaxFileBytes = 1ull << 30;
inline constexpr uint64_t kMaxRawBytes = 1ull << 30;  // of all sections together
// A small file may have less: the larger of both.
inline constexpr uint64_t kLeastMaxRawBytes = 64ull << 20;
inline constexpr uint64_t kMaxRawBytesAByte = 256;
// Modules, names of threads and other texts of which no run has many. In memory they are much larger.
inline constexpr uint64_t kMaxTexts = 1ull << 20;
inline constexpr uint64_t kMaxSourceFrames = 1ull << 24;  // functions of all stored frames
inline constexpr uint64_t kMaxSourceBytes = 1ull << 30;   // of their names, repetitions included
inline constexpr int kZstdLevel = 9;

}  // namespace memprof::capture_format
