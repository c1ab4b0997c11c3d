// Embeds JSON in a page so that it can't break out of its element.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

namespace memprof {

// Inside <script> only '<' can end the element or begin a comment. In JSON it occurs only in
// strings, so every '<' may be escaped.
std::string EscapedForScript(const std::string& json);

// The bundled page (page_template.h) with the data, which must be escaped, in place of its marker.
std::string FilledPage(std::string_view page, std::string_view data);

}  // namespace memprof
