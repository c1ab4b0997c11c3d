#include "cli/web/page.h"

#include "cli/web/embedded_json.h"
#include "cli/web/page_template.h"

namespace memprof {

std::string MakePage(const Profile& profile, const PageOptions& options) {
  return FilledPage(PageTemplate(), PageData(profile, options));
}

}  // namespace memprof
