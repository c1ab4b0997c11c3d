#include "core/profile/runtime_kept.h"

#include <algorithm>
#include <cmath>

#include "core/base_name.h"
#include "core/protocol/sample_weight.h"

namespace memprof {
namespace {

constexpr std::string_view kLibc = "libc";
constexpr std::string_view kLibstdcxx = "libstdc++";

constexpr char kEmergencyPool[] =
    "libstdc++'s emergency pool, for exceptions thrown when memory is out";
constexpr char kStreamBuffer[] = "the buffer of a stdio stream, which exit does not free";
constexpr char kLoaderRecords[] = "the loader's own records of libraries, threads and their TLS";

// Functions of libc that return no memory to free: what they leave allocated is a cache. The names
// are both those in a stripped libc's symbol table and those in its debug info.
struct KeptByRuntime {
  std::string_view function;
  const char* reason;
};
constexpr char kLocale[] = "libc's locales";
constexpr char kTimeZone[] = "libc's time zone";
constexpr char kNameService[] = "libc's configuration of the name service, and its static results";
constexpr char kConversions[] = "libc's conversions of characters";
constexpr KeptByRuntime kKeptByRuntime[] = {
    {"setlocale", kLocale},       {"bindtextdomain", kLocale},    {"textdomain", kLocale},
    {"__textdomain", kLocale},    {"tzset", kTimeZone},           {"__tzset", kTimeZone},
    {"__tz_convert", kTimeZone},  {"localtime", kTimeZone},       {"localtime_r", kTimeZone},
    {"__localtime_r", kTimeZone}, {"mktime", kTimeZone},          {"strftime", kTimeZone},
    {"getpwuid", kNameService},   {"getpwnam", kNameService},     {"getpwuid_r", kNameService},
    {"getpwnam_r", kNameService}, {"__getpwuid_r", kNameService}, {"__getpwnam_r", kNameService},
    {"getgrgid", kNameService},   {"getgrnam", kNameService},     {"getgrgid_r", kNameService},
    {"getgrnam_r", kNameService}, {"__getgrgid_r", kNameService}, {"__getgrnam_r", kNameService},
    {"mbstowcs", kConversions},   {"wcstombs", kConversions},     {"mbrtowc", kConversions},
    {"__mbrtowc", kConversions},  {"wcrtomb", kConversions},      {"__wcrtomb", kConversions},
    {"btowc", kConversions},      {"__btowc", kConversions},
};

// ld-linux-x86-64.so.2, or the file that it links to before glibc 2.34: ld-2.31.so.
bool IsLoader(std::string_view module) {
  const std::string_view name = BaseName(module);
  return name.starts_with("ld-linux-") || name.starts_with("ld-2.") || name == "ld.so";
}

// "libc" is libc.so.6 and libc-2.31.so, not libcairo.so.2.
bool IsLibrary(std::string_view module, std::string_view library) {
  const std::string_view name = BaseName(module);
  if (!name.starts_with(library)) return false;
  const std::string_view rest = name.substr(library.size());
  return rest.starts_with(".so") || rest.starts_with('-');
}

// libc's debug info has internal names: "__GI_setlocale" is setlocale.
std::string_view Plain(std::string_view function) {
  constexpr std::string_view kHidden = "__GI_";
  if (function.starts_with(kHidden)) function.remove_prefix(kHidden.size());
  return function;
}

// True if the figure is that of whole blocks of this size and nothing else: a merge has one of each
// process. A sampled block has its weight, rounded either way.
bool IsBlocksOf(uint64_t size, const Count& count, uint64_t sample_bytes) {
  if (sample_bytes == 0) return count.allocations != 0 && count.bytes == size * count.allocations;
  const double weight = 1 / SampledShare(size, sample_bytes);
  const double bytes = static_cast<double>(size) * weight;
  const double blocks = std::round(static_cast<double>(count.bytes) / bytes);
  return blocks >= 1 && std::abs(static_cast<double>(count.bytes) - blocks * bytes) <= blocks &&
         std::abs(static_cast<double>(count.allocations) - blocks * weight) <= blocks;
}

// GCC's eh_alloc.cc on x86-64: 64 * (1024 + 112) before GCC 13, 256 * (6 * 8 + 128 + 112) since.
bool IsPoolsSize(const Count& count, uint64_t sample_bytes) {
  constexpr uint64_t kPoolBytes[] = {72704, 73728};
  return std::any_of(std::begin(kPoolBytes), std::end(kPoolBytes),
                     [&](uint64_t size) { return IsBlocksOf(size, count, sample_bytes); });
}

// The symbolizer's name for an address without a symbol: "demo+0x1234".
bool HasNoName(std::string_view function) { return function.find("+0x") != function.npos; }

// The pool is static, so it is recognised by its size and its caller, which runs constructors: the
// loader, or libc for those of an executable that libstdc++ is linked into. Unless such an
// executable is stripped, the constructor has a name of its own.
bool IsEmergencyPool(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                     uint64_t sample_bytes) {
  if (frames.size() < 2 || !IsPoolsSize(site.total, sample_bytes)) return false;
  if (IsLibrary(frames[0].module, kLibstdcxx)) return IsLoader(frames[1].module);
  const bool by_constructors = IsLoader(frames[1].module) || IsLibrary(frames[1].module, kLibc);
  return by_constructors &&
         (frames[0].function == "_GLOBAL__sub_I_eh_alloc.cc" || HasNoName(frames[0].function));
}

// A library that audits calls (LD_AUDIT) has the loader between a function and what it calls.
bool IsAuditedCall(std::span<const RuntimeFrame> frames) {
  return frames.size() >= 2 && IsLoader(frames[0].module) && !IsLoader(frames[1].module) &&
         !IsLibrary(frames[1].module, kLibc);
}

// The innermost run of libc's frames.
size_t CountInside(std::span<const RuntimeFrame> frames) {
  size_t inside = 0;
  while (inside < frames.size() && IsLibrary(frames[inside].module, kLibc)) ++inside;
  return inside;
}

// Judges by the function through which the innermost run of libc's frames was entered. A callback
// into the program ends the run.
const char* WhyKeptByLibc(std::span<const RuntimeFrame> frames) {
  const size_t inside = CountInside(frames);
  if (inside == 0) return nullptr;
  const std::string_view entry = Plain(frames[inside - 1].function);
  const auto* known = std::find_if(std::begin(kKeptByRuntime), std::end(kKeptByRuntime),
                                   [&](const KeptByRuntime& e) { return e.function == entry; });
  return known != std::end(kKeptByRuntime) ? known->reason : nullptr;
}

}  // namespace

size_t CountNamedFrames(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                        uint64_t sample_bytes) {
  const size_t loader = IsAuditedCall(frames) ? 1 : 0;
  frames = frames.subspan(loader);
  const size_t inside = CountInside(frames);
  const bool may_be_pool = !frames.empty() && IsPoolsSize(site.total, sample_bytes);
  return loader + (inside == 0 && may_be_pool ? 1 : inside);
}

const char* WhyKeptByRuntime(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                             uint64_t sample_bytes) {
  if (frames.empty()) return nullptr;
  if (IsAuditedCall(frames)) frames = frames.subspan(1);
  if (IsEmergencyPool(frames, site, sample_bytes)) return kEmergencyPool;
  if (IsLibrary(frames[0].module, kLibc) && Plain(frames[0].function) == "_IO_file_doallocate") {
    return kStreamBuffer;
  }
  // The loader's allocations are its own: it has no function that returns memory to a caller.
  if (IsLoader(frames[0].module)) return kLoaderRecords;
  return WhyKeptByLibc(frames);
}

}  // namespace memprof
