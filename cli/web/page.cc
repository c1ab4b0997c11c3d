#include "cli/web/page.h"

#include <string_view>

#include "cli/web/embedded_json.h"
#include "cli/web/page_template.h"

namespace memprof {
namespace {

constexpr std::string_view kNoRequests = "default-src 'none';";
constexpr std::string_view kBody = "<body>";

void Replace(std::string& page, std::string_view what, std::string_view by) {
  const size_t at = page.find(what);
  if (at != std::string::npos) page.replace(at, what.size(), by);
}

}  // namespace

std::string MakePage(const Profile& profile, const PageOptions& options) {
  return FilledPage(PageTemplate(), PageData(profile, options));
}

std::string MakeLivePage(const Profile& profile, const PageOptions& options) {
  std::string page(PageTemplate());
  Replace(page, kNoRequests, "default-src 'none'; connect-src 'self';");
  Replace(page, kBody, "<body data-live>");
  return FilledPage(page, PageData(profile, options));
}

}  // namespace memprof
