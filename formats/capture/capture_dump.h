// The raw sections of a capture as text, for people who debug captures (`memprof parse`).
//
// Failure: kUnreadable for a file that is no capture. A damaged section is shown as such.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace memprof {

Result<std::string> DumpCapture(std::string_view bytes);

}  // namespace memprof
