#include "cli/web/page.h"

#include "cli/web/page_template.h"

namespace memprof {

std::string MakePage(const Profile& profile, const PageOptions& options) {
  const std::string_view page = PageTemplate();
  const size_t marker = page.find(kPageDataMarker);
  const std::string data = PageData(profile, options);
  std::string out;
  out.reserve(page.size() + data.size());
  out.append(page.substr(0, marker));
  out.append(data);
  out.append(page.substr(marker + kPageDataMarker.size()));
  return out;
}

}  // namespace memprof
