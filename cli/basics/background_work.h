// InBackground: runs work on a thread of its own, so that the supervisor's loop need not wait for
// it.
//
// Failure: if no thread can be started, the loop does wait.
#pragma once

#include <future>
#include <system_error>
#include <type_traits>

namespace memprof {

// Destroying the future waits for the work.
template <typename Work>
std::future<std::invoke_result_t<Work>> InBackground(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    std::promise<std::invoke_result_t<Work>> done;
    done.set_value(work());
    return done.get_future();
  }
}

}  // namespace memprof
