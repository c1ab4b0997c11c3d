// Once: reads a field exactly once from memory that another process may write at any time, so that
// the checked value is the used value. Without it the compiler may read the field again.
#pragma once

namespace memprof {

template <typename Value>
Value Once(const Value& value) {
  return *const_cast<const volatile Value*>(&value);
}

}  // namespace memprof
