// Result<T>: a value or an Error, for everything outside the profiled process.
//
// Failure: no exceptions cross a header of this project. A function that can fail returns
// Result<T>.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace memprof {

enum class ErrorKind {
  kUsage,       // the user's request makes no sense: exit 2
  kUnreadable,  // a capture or region that can't be read: exit 3
  kIo,          // the system refused: open, write, mmap, …
  kExists,      // the output is there already and -f was not given
  kNotFound,
};

struct Error {
  ErrorKind kind;
  std::string message;  // one line, no newline; names the remedy if there is one
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace memprof
