// TargetProcess: a running process as /proc describes it, and whether memprof can be put into it.
//
// Thread safety: none. Failure: a sentence that says what to do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/supervisor/images/program_mark.h"
#include "core/protocol/attach_protocol.h"
#include "core/result.h"

namespace memprof {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file
  bool executable = false;
  std::string path;  // empty: none
};

class TargetProcess {
 public:
  // Fails if nothing can be injected. Missing rights are not checked: only the attempt shows them.
  // `library` is the one that will be loaded.
  static Result<TargetProcess> Examine(pid_t pid, const std::string& library);

  pid_t pid() const { return pid_; }
  const std::string& program() const { return program_; }  // the executable's base name
  const std::vector<std::string>& warnings() const { return warnings_; }
  // As of Examine, or of the last Remap.
  const std::vector<Mapping>& mappings() const { return mappings_; }
  void Remap();
  const Mapping* At(uint64_t address) const;

  // Whether the process has ended since Examine (its pid may be another process's then), or has
  // executed another program.
  bool HasEnded() const;
  bool HasExecuted() const;
  // One of these two as a sentence; empty: neither.
  std::string WhatBecame() const;

  // A path of the process in a form that we can open, whatever its root is.
  std::string Reachable(const std::string& path) const;
  // Whether the process finds at this path the same file as memprof.
  bool Sees(const std::string& path) const;
  // The address of an exported function or object of a module; 0: it has none. `module` is the
  // beginning of the file's name (libc.so, libmemprof_attach.so).
  uint64_t Find(const char* module, const char* symbol) const;

  // The path of the module that defines malloc.
  const std::string& allocator() const { return allocator_; }

  // The file of its loader, which may be the executable; empty: not known.
  const std::string& loader() const { return loader_; }

  // The state of our library in the process; nullopt: it isn't loaded.
  std::optional<AttachState> State() const;

  bool Read(uint64_t address, void* to, size_t bytes) const;
  bool Write(uint64_t address, const void* from, size_t bytes) const;
  // The threads that still run.
  std::vector<pid_t> Threads() const;
  // A living thread: the main thread, unless it has ended.
  pid_t LivingThread() const;

 private:
  explicit TargetProcess(pid_t pid) : pid_(pid) {}
  static Result<TargetProcess> ExamineLiving(pid_t pid, const std::string& library);

  pid_t pid_;
  std::string program_;
  std::string allocator_;
  std::string loader_;
  std::vector<std::string> warnings_;
  std::vector<Mapping> mappings_;
  ProgramMark mark_;
  std::optional<uint64_t> start_ticks_;
};

inline constexpr char kAttachLibraryName[] = "libmemprof_attach.so";

// Says which right is missing to trace the process, and how to get it.
std::string HowToHaveTheRight();

// Why the kernel answers EPERM to an attempt to trace the process, and what to do.
std::string WhyNoRights(pid_t pid);

// The base name of a mapping's file.
std::string ModuleName(const Mapping& mapping);

}  // namespace memprof
