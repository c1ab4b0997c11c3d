#include "cli/load/capture_name.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace memprof {

Result<CaptureName> ParseCaptureName(const std::string& name) {
  std::error_code error;
  const size_t at = name.rfind('@');
  if (at == std::string::npos || at == 0 || name.find('/', at) != std::string::npos ||
      std::filesystem::exists(name, error)) {
    return CaptureName{name, std::nullopt};
  }
  const std::string file = name.substr(0, at);
  const auto moment = ParseMoment(std::string_view(name).substr(at + 1));
  // If it is neither a time nor a file, the reader of files reports it.
  const bool is_time = moment && moment->kind != MomentSelector::Kind::kNamed;
  if (!is_time && !std::filesystem::exists(file, error)) return CaptureName{name, std::nullopt};
  if (moment) return CaptureName{file, *moment};
  return Fail(ErrorKind::kUsage, fmt::format("{}: {}", file, moment.error().message));
}

Result<std::string> WholeCapture(const std::string& name, std::string_view does) {
  auto capture = ParseCaptureName(name);
  if (!capture) return tl::unexpected<Error>(capture.error());
  if (!capture->moment) return std::move(capture->file);
  return Fail(ErrorKind::kUsage, fmt::format("{}: {} as a whole, whatever the moment; write {}",
                                             name, does, capture->file));
}

}  // namespace memprof
