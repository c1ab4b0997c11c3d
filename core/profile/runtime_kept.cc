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

// libc's functions that give their caller no memory to free: what they leave allocated is a cache.
// As the symbol table of a stripped libc has them and as its debug info has them.
struct Entry {
  std::string_view function;
  const char* reason;
};
constexpr char kLocale[] = "libc's locales";
constexpr char kTimeZone[] = "libc's time zone";
constexpr char kNameService[] = "libc's configuration of the name service, and its static results";
constexpr char kConversions[] = "libc's conversions of characters";
constexpr Entry kEntries[] = {
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

// ld-linux-x86-64.so.2, or what it is a link to before glibc 2.34: ld-2.31.so.
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

// Names inside libc, as its debug info has them: "__GI_setlocale" is setlocale.
std::string_view Plain(std::string_view function) {
  constexpr std::string_view kHidden = "__GI_";
  if (function.starts_with(kHidden)) function.remove_prefix(kHidden.size());
  return function;
}

// Whether a sampled figure is that of one block: its weight, rounded to either side.
bool IsOneBlock(const Count& count, uint64_t size, uint64_t sample_bytes) {
  const double weight = 1 / SampledShare(size, sample_bytes);
  return std::abs(static_cast<double>(count.bytes) - static_cast<double>(size) * weight) <= 1 &&
         std::abs(static_cast<double>(count.allocations) - weight) <= 1;
}

// The pool is static and has no name in the symbol table. So it is told by its size (GCC's
// eh_alloc.cc on x86-64) and by who calls: the loader, which runs libstdc++'s constructors.
bool IsEmergencyPool(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                     uint64_t sample_bytes) {
  constexpr uint64_t kPoolBytes = 72704;
  return frames.size() >= 2 && IsLibrary(frames[0].module, kLibstdcxx) &&
         IsLoader(frames[1].module) &&
         (sample_bytes == 0 ? site.total == Count{kPoolBytes, 1}
                            : IsOneBlock(site.total, kPoolBytes, sample_bytes));
}

// How the innermost run of libc's frames was entered. A callback of the program ends the run.
const char* WhyKeptByLibc(std::span<const RuntimeFrame> frames) {
  const size_t inside = CountNamedFrames(frames);
  if (inside == 0) return nullptr;
  const std::string_view entry = Plain(frames[inside - 1].function);
  const auto* known = std::find_if(std::begin(kEntries), std::end(kEntries),
                                   [&](const Entry& e) { return e.function == entry; });
  return known != std::end(kEntries) ? known->reason : nullptr;
}

}  // namespace

size_t CountNamedFrames(std::span<const RuntimeFrame> frames) {
  size_t inside = 0;
  while (inside < frames.size() && IsLibrary(frames[inside].module, kLibc)) ++inside;
  return inside;
}

const char* WhyKeptByRuntime(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                             uint64_t sample_bytes) {
  if (frames.empty()) return nullptr;
  if (IsEmergencyPool(frames, site, sample_bytes)) return kEmergencyPool;
  if (IsLibrary(frames[0].module, kLibc) && Plain(frames[0].function) == "_IO_file_doallocate") {
    return kStreamBuffer;
  }
  // What the loader asks for is its own: it has no function that gives memory away.
  if (IsLoader(frames[0].module)) return kLoaderRecords;
  return WhyKeptByLibc(frames);
}

}  // namespace memprof
