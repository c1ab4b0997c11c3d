// Once: a field of memory that somebody else may write at any time, read exactly once, so that what
// was checked is what is used. Without it the compiler may read again.
#pragma once

namespace memprof {

template <typename Value>
Value Once(const Value& value) {
  return *const_cast<const volatile Value*>(&value);
}

}  // namespace memprof
