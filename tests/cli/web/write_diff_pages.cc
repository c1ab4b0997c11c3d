// Writes the pages that diff_page_test.mjs opens: write_diff_pages DIRECTORY.
#include <fstream>
#include <iostream>
#include <string>

#include "cli/reports/difference/diff_page.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

// Bytes at the peak: 1,000,000 before, 1,500,000 after. The leaks are the same.
Profile Before() {
  ProfileBuilder b("demo");
  const TestFrame main{"main", "src/main.cc", 42};
  b.Site({main, {"Load()", "src/load.cc", 10}}, {{500'000, 5}, {0, 0}, {900'000, 9}});
  b.Site({main, {"Serve()", "src/serve.cc", 20}}, {{400'000, 4}, {0, 0}, {400'000, 4}});
  b.Site({main, {"Same()", "src/same.cc", 30}}, {{100'000, 1}, {100'000, 1}, {100'000, 1}});
  return b.profile();
}

Profile After() {
  ProfileBuilder b("demo");
  const TestFrame main{"main", "src/main.cc", 142};
  b.Site({main, {"Load()", "src/load.cc", 110}}, {{200'000, 2}, {0, 0}, {600'000, 6}});
  b.Site({main, {"Serve()", "src/serve.cc", 120}}, {{1'000'000, 10}, {0, 0}, {1'000'000, 10}});
  b.Site({main, {"Same()", "src/same.cc", 130}}, {{100'000, 1}, {100'000, 1}, {100'000, 1}});
  b.Site({main, {"Fresh()", "src/fresh.cc", 1}}, {{200'000, 2}, {0, 0}, {200'000, 2}});
  return b.profile();
}

const std::string kAttack =
    "<img src=x onerror=\"window.hit=1\"></script><script>window.hit=2</script>";

Profile Hostile(uint64_t bytes) {
  ProfileBuilder b(kAttack);
  b.profile().notes = {kAttack};
  b.Site({{kAttack, kAttack, 1, "/tmp/" + kAttack}, {"plain", kAttack, 2}},
         {{bytes, 1}, {}, {bytes, 1}});
  b.Site({{"__proto__ \xff", "constructor", 1}}, {{2 * bytes, 1}, {}, {bytes, 1}});
  return b.profile();
}

bool Write(const std::string& file, const Profile& before, const Profile& after) {
  std::ofstream out(file, std::ios::binary);
  out << MakeDiffPage({"/tmp/old.memprof", &before}, {"/tmp/new.memprof", &after}, {});
  return static_cast<bool>(out.flush());
}

}  // namespace
}  // namespace memprof

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  using namespace memprof;
  if (!Write(folder + "/diff.html", Before(), After()) ||
      !Write(folder + "/diff_hostile.html", Hostile(1000), Hostile(3000))) {
    std::cerr << "can't write to " << folder << "\n";
    return 1;
  }
}
