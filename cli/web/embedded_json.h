// JSON inside a page: how it gets there, and why it can't break out.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

namespace memprof {

// Inside <script> only '<' can end the element or begin a comment; in JSON it occurs in strings
// only, so that every one may be escaped.
std::string EscapedForScript(const std::string& json);

// The bundled page (page_template.h) with the data, which must be escaped, at its marker.
std::string FilledPage(std::string_view page, std::string_view data);

}  // namespace memprof
