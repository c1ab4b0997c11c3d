#include "cli/budget/finding_place.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/budget/contributors_text.h"

namespace memprof {
namespace {

std::string Checkout() {
  for (const char* variable : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && *folder == '/') return folder;
  }
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace

std::string RelativeToCheckout(const std::string& file) {
  std::string folder = Checkout();
  while (folder.ends_with('/')) folder.pop_back();
  if (folder.empty() || !file.starts_with(folder + "/")) {
    return file.starts_with("./") ? file.substr(2) : file;
  }
  return file.substr(folder.size() + 1);
}

FindingPlace PlaceOfFinding(const CheckReport& report, const CheckItem& item) {
  for (const DiffRow& row : item.contributors.rows) {
    if (!row.file.empty()) return {RelativeToCheckout(row.file), row.line};
  }
  return {RelativeToCheckout(report.budget), item.line};
}

std::string FindingText(const CheckReport& report, const OverItem& over, size_t rows) {
  constexpr TextStyle kPlain = {100, false};
  std::string text = Printable(TitleOf(*over.item) + " " + over.item->says) + "\n";
  text += Printable(fmt::format("{}:{}, {}", report.budget, over.item->line, over.check->capture));
  return text + "\n" + ContributorsText(*over.item, !report.baseline.empty(), rows, kPlain);
}

}  // namespace memprof
