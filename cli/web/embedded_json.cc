#include "cli/web/embedded_json.h"

#include "cli/web/page_template.h"

namespace memprof {

std::string EscapedForScript(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string FilledPage(std::string_view page, std::string_view data) {
  const size_t marker = page.find(kPageDataMarker);
  std::string out;
  out.reserve(page.size() + data.size());
  out.append(page.substr(0, marker));
  out.append(data);
  out.append(page.substr(marker + kPageDataMarker.size()));
  return out;
}

}  // namespace memprof
