// ProgramOutput: the output of a program that runs beside an interactive view. It goes to two unlinked
// files, so the program never waits for the view, and nothing is lost when the view ends.
//
//   program ── stdout, stderr ──►  files  ──►  Look: the last lines, for the view
//                                         ──►  Print: everything, stdout to stdout, stderr to stderr
//
// The files are opened to append. Print goes on where it was, also in a process that was forked from this
// one: they share the place.
//
// Thread safety: one owner. Memory: the last 1,000 lines, of at most 4 KiB each. Disk: what the program
// writes, until all who have the files open have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class ProgramOutput {
 public:
  // Files in TMPDIR, or /tmp.
  static Result<ProgramOutput> Make();

  // Where the program is to write; closed on exec.
  int out() const { return out_.writing.get(); }
  int err() const { return err_.writing.get(); }

  // Reads what is new. True: there was something.
  bool Look();
  const std::deque<std::string>& lines() const { return lines_; }  // the last ones, as written

  // Copies what was not printed yet to descriptors 1 and 2. True: there was something.
  bool Print();

 private:
  struct Stream {
    ScopedFd writing, printing;
    uint64_t looked = 0;       // bytes
    std::string unfinished{};  // a line without its end
  };

  ProgramOutput(Stream out, Stream err) : out_(std::move(out)), err_(std::move(err)) {}
  static Result<Stream> Open(const std::string& folder);
  bool Look(Stream& stream);
  void Add(std::string& line);

  Stream out_, err_;
  std::deque<std::string> lines_;
};

}  // namespace memprof
