/* memprof/gtest.h: limits of memory in GoogleTest's tests.
 *
 *   TEST(Parser, ReadsABigFileInLittleMemory) {
 *     MEMPROF_LIMIT_PEAK("24 MB");
 *     MEMPROF_LIMIT_LEAKS(0);
 *     Parse("big.xml");
 *   }
 *
 * A limit holds from its line to the end of the enclosing braces. Where it is exceeded the test
 * fails, not fatally, at the macro's line, with the limit, the figure, and the heaviest stacks
 * behind it.
 *
 * MEMPROF_LIMIT_PEAK(size): how much more than at the limit's line the heap may hold at once.
 *
 * MEMPROF_LIMIT_LEAKS(size): how much functions may have allocated since that isn't freed at the
 * end, less what they had allocated before and is freed since: a cache that replaces an entry leaks
 * nothing. With 0 not one block may be left, not even of no bytes.
 *
 * MEMPROF_LIMIT_ALLOCATIONS(n): how many allocations may be made; a realloc is one.
 *
 * MEMPROF_LIMIT_…_THREAD(…): the same for the allocations of the calling thread, whichever thread
 * frees them. Without _THREAD the whole process counts, with all its threads. Leaks of a thread are
 * the growth of its live blocks.
 *
 * Sizes are requested bytes, as a number or as text; "24 MB", "24 MiB" and 25165824 are the same.
 *
 * Run the test under `memprof run`. Without a tracker limits are not checked, and the test goes on
 * as if they weren't there. With MEMPROF_REQUIRED=1 in the environment, or defined when compiling,
 * limits fail then (MEMPROF_REQUIRED=0 in the environment wins).
 *
 * GoogleTest's own allocations don't count against a limit. What libc, libstdc++ and the loader
 * keep by design doesn't count against a limit on leaks. If threads make a figure inexact, a limit
 * is exceeded only if that is certain. If so many threads make scopes that this one's end gets no
 * turn, the limit is not checked; stderr says so, or the test fails if limits are required.
 * Nothing is counted while a failure is written.
 * docs/testing.md has more.
 */
#ifndef MEMPROF_GTEST_H_
#define MEMPROF_GTEST_H_

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>

#include "memprof/detail/byte_size.h"
#include "memprof/detail/scope_report.h"
#include "memprof/memprof.h"

#ifdef MEMPROF_REQUIRED
#define MEMPROF_DETAIL_REQUIRED (MEMPROF_REQUIRED + 0 != 0)
#else
#define MEMPROF_DETAIL_REQUIRED false
#endif

#define MEMPROF_DETAIL_JOIN_(a, b) a##b
#define MEMPROF_DETAIL_JOIN(a, b) MEMPROF_DETAIL_JOIN_(a, b)
#define MEMPROF_DETAIL_LIMIT(figure, thread, limit, text)                                          \
  const ::memprof::LimitScope MEMPROF_DETAIL_JOIN(memprof_limit_##figure##_##thread##_, __LINE__)( \
      ::memprof::LimitScope::figure, thread, limit, text, MEMPROF_DETAIL_REQUIRED, __FILE__,       \
      __LINE__)

#define MEMPROF_LIMIT_PEAK(size)                                         \
  MEMPROF_DETAIL_LIMIT(kPeak, false, ::memprof::detail::SizeLimit(size), \
                       "MEMPROF_LIMIT_PEAK(" #size ")")
#define MEMPROF_LIMIT_PEAK_THREAD(size)                                 \
  MEMPROF_DETAIL_LIMIT(kPeak, true, ::memprof::detail::SizeLimit(size), \
                       "MEMPROF_LIMIT_PEAK_THREAD(" #size ")")
#define MEMPROF_LIMIT_LEAKS(size)                                         \
  MEMPROF_DETAIL_LIMIT(kLeaks, false, ::memprof::detail::SizeLimit(size), \
                       "MEMPROF_LIMIT_LEAKS(" #size ")")
#define MEMPROF_LIMIT_LEAKS_THREAD(size)                                 \
  MEMPROF_DETAIL_LIMIT(kLeaks, true, ::memprof::detail::SizeLimit(size), \
                       "MEMPROF_LIMIT_LEAKS_THREAD(" #size ")")
#define MEMPROF_LIMIT_ALLOCATIONS(n)                                          \
  MEMPROF_DETAIL_LIMIT(kAllocations, false, ::memprof::detail::CountLimit(n), \
                       "MEMPROF_LIMIT_ALLOCATIONS(" #n ")")
#define MEMPROF_LIMIT_ALLOCATIONS_THREAD(n)                                  \
  MEMPROF_DETAIL_LIMIT(kAllocations, true, ::memprof::detail::CountLimit(n), \
                       "MEMPROF_LIMIT_ALLOCATIONS_THREAD(" #n ")")

namespace memprof {
namespace detail {

struct Limit {
  uint64_t value = 0;
  const char* refused = nullptr; /* why the macro's argument is no limit; null: it is one */
};

template <typename Number>
Limit CountLimit(Number number) {
  static_assert(std::is_integral<Number>::value && !std::is_same<Number, bool>::value,
                "a limit is a whole number");
  Limit limit;
  if (number < Number{0}) limit.refused = "a limit is at least 0";
  limit.value = static_cast<uint64_t>(number);
  return limit;
}

template <typename Number>
Limit SizeLimit(Number number) {
  return CountLimit(number);
}
inline Limit SizeLimit(const char* text) {
  Limit limit;
  if (!ParseBytes(text, &limit.value)) {
    limit.refused = "that is no size; write e.g. 512, \"64 KiB\", \"24 MB\" or \"1.5 GiB\"";
  }
  return limit;
}
inline Limit SizeLimit(const std::string& text) { return SizeLimit(text.c_str()); }

inline bool Required(bool when_compiled) {
  const char* const set = std::getenv("MEMPROF_REQUIRED");
  return set == nullptr ? when_compiled : *set != 0 && std::string(set) != "0";
}

} /* namespace detail */

/* The object that a macro declares. It checks when it is destroyed, unless by an exception: the
 * test fails then anyway, and memory held by the exception is no leak.
 * Thread safety: made and destroyed by one thread. */
class LimitScope {
 public:
  enum Figure { kPeak, kLeaks, kAllocations };

  LimitScope(Figure figure, bool thread, const detail::Limit& limit, const char* macro,
             bool required, const char* file, int line)
      : figure_(figure),
        thread_(thread),
        limit_(limit.value),
        macro_(macro),
        file_(file),
        line_(line),
        required_(required),
        exceptions_(std::uncaught_exceptions()) {
    if (limit.refused != nullptr) {
      Fail(limit.refused);
    } else if (memprof_present()) {
      scope_ = memprof_scope_begin(macro, thread ? MEMPROF_THREAD : 0);
      if (scope_ == 0) {
        Fail("not checked: the tracker has no room for another scope, or was busy with others'");
      }
    } else if (detail::Required(required)) {
      Fail(
          "not checked: memprof does not watch this process, and MEMPROF_REQUIRED is set; run the "
          "test under `memprof run`");
    }
  }
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

  /* Throws what --gtest_throw_on_failure lets failures throw. */
  ~LimitScope() noexcept(false) {
    if (scope_ == 0) return;
    Figures figures;
    const bool ended = memprof_scope_end(scope_, &figures) != 0;
    const bool known = Known(figures);
    const bool unwinding = std::uncaught_exceptions() != exceptions_;
    if (unwinding || !ended || (known && !Exceeded(MeasuredIn(figures)))) {
      memprof_scope_release(scope_);
      if (!unwinding && !ended) NotChecked();
      return;
    }
    const Uncounted uncounted;
    const std::string failure =
        known     ? FailureText(figures)
        : thread_ ? "not checked: the scope ends in another thread than it began in"
                  : "not checked: there was no memory to tell leaks";
    memprof_scope_release(scope_);
    if (!failure.empty()) Fail(failure);
  }

 private:
  /* While it lives nothing is counted. */
  struct Uncounted {
    Uncounted() { memprof_stop(); }
    ~Uncounted() { memprof_start(); }
  };

  struct Measured {
    int64_t value = 0;  /* bytes; of kAllocations blocks */
    int64_t blocks = 0; /* of kLeaks; 0: not known */
    int64_t bound = 0;  /* the value is off by at most this */
  };

  bool Known(const Figures& figures) const {
    if (!thread_) return figure_ != kLeaks || (figures.flags & MEMPROF_NO_STACKS) == 0;
    return (figures.flags & (figure_ == kAllocations ? MEMPROF_THREAD_ALLOCATIONS_KNOWN
                                                     : MEMPROF_THREAD_KNOWN)) != 0;
  }

  Measured MeasuredIn(const Figures& figures) const {
    Measured measured;
    if (!Known(figures)) return measured;
    switch (figure_) {
      case kPeak:
        measured.value = thread_ ? figures.thread_peak_growth_bytes : figures.peak_growth_bytes;
        break;
      case kLeaks:
        measured.value = thread_ ? figures.thread_growth_bytes : figures.leaked_bytes;
        measured.blocks = thread_ ? 0 : figures.leaked_blocks;
        break;
      case kAllocations:
        measured.value =
            static_cast<int64_t>(thread_ ? figures.thread_allocations : figures.allocations);
        break;
    }
    if (figure_ != kAllocations && !thread_) {
      measured.bound = static_cast<int64_t>(figures.bound_bytes);
    }
    return measured;
  }

  bool Exceeded(const Measured& measured) const {
    const int64_t surely = measured.value - measured.bound;
    if (surely > 0 && static_cast<uint64_t>(surely) > limit_) return true;
    return figure_ == kLeaks && limit_ == 0 && measured.bound == 0 && measured.blocks > 0;
  }

  /* Empty: what is over the limit is not the program's own. */
  std::string FailureText(const Figures& figures) const {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    const memprof_order orders[] = {MEMPROF_BY_PEAK, MEMPROF_BY_GROWTH, MEMPROF_BY_ALLOCATIONS};
    const detail::ScopeReport report = detail::ReportScope(
        scope_, {orders[figure_], "testing::", "libgtest", thread_ ? name : nullptr});
    Measured measured = MeasuredIn(figures);
    const bool counts = figure_ == kAllocations;
    const int64_t foreign = counts ? report.excepted_blocks : report.excepted_bytes;
    if (figure_ == kLeaks && !thread_) {
      measured.value = report.leaked_bytes;
      measured.blocks = report.leaked_blocks;
    } else {
      if (foreign > 0) measured.value -= foreign;
      if (figure_ == kLeaks) measured.value -= report.kept_bytes;
    }
    if (!Exceeded(measured)) return {};
    std::string text = HeadText(measured, figures) + "\n" + report.text;
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  std::string HeadText(const Measured& measured, const Figures& figures) const {
    const auto value = static_cast<uint64_t>(measured.value);
    const std::string about = (figures.flags & MEMPROF_SAMPLED) != 0 ? "about " : "";
    const std::string of_thread = thread_ ? " of this thread" : "";
    std::string text;
    if (figure_ == kPeak) {
      text = (thread_ ? "the heap of this thread grew by " : "the heap grew by ") + about +
             detail::FormatBytesExact(value);
    } else if (figure_ == kLeaks) {
      text = about + detail::FormatBytesExact(value) +
             /* A block that a realloc made larger is not one more. */
             (thread_ || measured.blocks <= 0
                  ? ""
                  : " in " + detail::Plural(static_cast<uint64_t>(measured.blocks), "block")) +
             of_thread + " leaked";
    } else {
      text = about + detail::Plural(value, "allocation") + of_thread;
    }
    const uint64_t over = value - limit_;
    if (figure_ == kAllocations) {
      text +=
          ", " + detail::FormatCount(over) + " over the limit of " + detail::FormatCount(limit_);
    } else if (value > limit_) {
      text +=
          ", " + detail::FormatBytes(over) + " over the limit of " + detail::FormatBytes(limit_);
    } else {
      text += ", and the limit is no block";
    }
    if (measured.bound != 0) {
      text += " (threads: off by at most " +
              detail::FormatBytes(static_cast<uint64_t>(measured.bound)) + ")";
    }
    if ((figures.flags & MEMPROF_WAS_STOPPED) != 0) text += "; counting was stopped for a while";
    return text + (thread_ ? "; threads of its name allocated:" : ":");
  }

  /* The scope has no figures: for 0.1 s it was other threads' turn. Or this is a forked child. */
  void NotChecked() const {
    const char* const why = "not checked: the tracker was busy with the scopes of other threads";
    if (!memprof_present()) return;
    if (detail::Required(required_)) {
      Fail(why);
    } else {
      const Uncounted uncounted;
      std::fprintf(stderr, "%s:%d: %s: %s\n", file_, line_, macro_, why);
    }
  }

  void Fail(const std::string& why) const {
    const Uncounted uncounted;
    ADD_FAILURE_AT(file_, line_) << macro_ << ": " << why;
  }

  const Figure figure_;
  const bool thread_;
  const uint64_t limit_;
  const char* const macro_;
  const char* const file_;
  const int line_;
  const bool required_; /* when compiled */
  const int exceptions_;
  memprof_scope scope_ = 0;
};

} /* namespace memprof */

#endif /* MEMPROF_GTEST_H_ */
