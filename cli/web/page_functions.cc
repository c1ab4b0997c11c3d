#include "cli/web/page_functions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "cli/web/page_tree.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

// A row's function and thread, and its figures, most of which are short.
constexpr size_t kRowBytes = 14;

struct Booked : Figures {
  FigureVariances variances;
};

template <typename From>
void Book(Booked& to, const From& from) {
  AddFigures(to, from);
  if constexpr (requires { from.variances; }) to.variances += from.variances;
}

// The figures of one thread, by function.
class FunctionColumn {
 public:
  explicit FunctionColumn(size_t functions) : at_(functions, kNone) {}

  template <typename From>
  void Add(uint32_t function, const From& from) {
    if (at_[function] == kNone) {
      at_[function] = static_cast<uint32_t>(booked_.size());
      booked_.emplace_back(function, Booked{});
    }
    Book(booked_[at_[function]].second, from);
  }

  // Appends the rows, and forgets them.
  void Take(uint32_t thread, std::vector<FunctionRow>& rows) {
    for (const auto& [function, booked] : booked_) {
      rows.push_back({booked, function, thread, booked.variances});
      at_[function] = kNone;
    }
    booked_.clear();
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  std::vector<uint32_t> at_;  // in booked_; kNone: not there
  std::vector<std::pair<uint32_t, Booked>> booked_;
};

// Books every site on functions. The functions are those of the merged tree and, at the end, the row
// for stacks without a frame of the program.
class Counter {
 public:
  Counter(const Profile& profile, const MergedTree& merged, const PageRows& rows)
      : profile_(profile), merged_(merged), functions_(merged.names), seen_(merged.names.size()) {
    no_program_ = Row(kNoProgramRow);
    seen_.resize(functions_.size());
    self_ = located_ = inclusive_ = FunctionColumn(functions_.size());
    ByThread<ProfileSite> sites;
    for (uint32_t i = 0; i < profile.sites.size(); ++i) {
      sites[ThreadOf(i, rows)].emplace_back(i, &profile.sites[i]);
    }
    static_cast<FunctionTables&>(counted_) = Tables(sites);
    for (const ProfileProcess& process : profile.processes) {
      ByThread<ProcessRow> of_process;
      for (const ProcessRow& row : process.rows) {
        of_process[ThreadOf(row.site, rows)].emplace_back(row.site, &row);
      }
      counted_.processes.push_back(Tables(of_process));
    }
  }

  PageFunctions Take() && {
    counted_.functions = std::move(functions_);
    return std::move(counted_);
  }

 private:
  // A name of the merged tree may be the same.
  uint32_t Row(const char* text) {
    const FunctionName row = {text, "", "", FrameKind::kRow};
    const auto at = std::find(functions_.begin(), functions_.end(), row);
    const auto index = static_cast<uint32_t>(at - functions_.begin());
    if (at == functions_.end()) functions_.push_back(row);
    return index;
  }

  // Sites, each with its figures of the whole profile or of a process.
  template <typename Of>
  using ByThread = std::map<uint32_t, std::vector<std::pair<uint32_t, const Of*>>>;

  uint32_t ThreadOf(uint32_t site, const PageRows& rows) const {
    const uint32_t name = profile_.sites[site].thread_name;
    return name < rows.thread_of.size() ? rows.thread_of[name] : 0;
  }

  template <typename Of>
  FunctionTables Tables(const ByThread<Of>& by_thread) {
    FunctionTables tables;
    for (const auto& [thread, sites] : by_thread) {
      for (const auto& [site, figures] : sites) Add(site, *figures);
      self_.Take(thread, tables.self);
      located_.Take(thread, tables.located);
      inclusive_.Take(thread, tables.inclusive);
    }
    return tables;
  }

  template <typename Of>
  void Add(uint32_t index, const Of& figures) {
    const ProfileSite& site = profile_.sites[index];
    const uint32_t leaf = merged_.node_of_site[index];
    ++stamp_;
    uint32_t location = no_program_, outermost = no_program_;
    bool is_located = false;
    uint32_t reason = no_program_;
    for (const uint32_t node : PathToRoot(merged_.nodes, leaf)) {
      const uint32_t name = merged_.nodes[node].frame;
      if (!is_located && functions_[name].kind != FrameKind::kSystem) {
        location = name;
        is_located = true;
      }
      reason = std::exchange(outermost, name);
      if (seen_[name] == stamp_) continue;
      seen_[name] = stamp_;
      path_.push_back(name);
    }
    const bool kept = site.runtime_reason != nullptr;
    for (const uint32_t name : path_) {
      if (!kept || name != reason) inclusive_.Add(name, figures);
    }
    if (leaf == 0) inclusive_.Add(no_program_, figures);
    if (!kept && leaf != 0 && location == no_program_) inclusive_.Add(no_program_, figures);
    path_.clear();
    const uint32_t innermost = leaf == 0 ? no_program_ : merged_.nodes[leaf].frame;
    self_.Add(kept ? outermost : innermost, figures);
    located_.Add(kept ? outermost : location, figures);
  }

  const Profile& profile_;
  const MergedTree& merged_;
  std::vector<FunctionName> functions_;
  PageFunctions counted_;
  FunctionColumn self_{0}, located_{0}, inclusive_{0};  // of the thread that is counted
  uint32_t no_program_ = 0;
  std::vector<uint64_t> seen_;  // for each function, the stamp of the last site that has it
  uint64_t stamp_ = 0;
  std::vector<uint32_t> path_;
};

// The largest share of any figure, inclusive or, in a row without one, self.
std::vector<double> Weights(const Profile& profile, const PageFunctions& all) {
  std::vector<double> weights(all.functions.size());
  for (const Figure figure : kAllFigures) {
    for (const bool bytes : {true, false}) {
      const auto of = [&](const Count& count) {
        return static_cast<double>(bytes ? count.bytes : count.allocations);
      };
      const double whole = of(FigureOf(profile, figure));
      if (!(whole > 0)) continue;
      std::vector<double> shares(weights.size());
      for (const FunctionRow& row : all.inclusive) {
        shares[row.function] += of(FigureOf(row, figure)) / whole;
      }
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::max(weights[i], shares[i]);
    }
  }
  return weights;
}

size_t BytesInJson(const std::string& text) {
  size_t bytes = 0;
  for (const char c : text.substr(0, kMaxTextBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == '<') {
      bytes += 6;
    } else {
      bytes += byte < 0x80 && byte != '"' && byte != '\\' ? 1 : 3;
    }
  }
  return bytes;
}

size_t BytesInJson(const FunctionRow& row) {
  size_t bytes = kRowBytes;
  for (const Figure figure : kAllFigures) {
    const Count& count = FigureOf(row, figure);
    for (const uint64_t number : {count.bytes, count.allocations}) {
      uint64_t left = number;
      for (bytes += 2; left >= 10; left /= 10) ++bytes;
    }
  }
  return bytes;
}

// Renumbers the functions. Those that don't fit become one.
class Selection {
 public:
  Selection(const Profile& profile, const PageFunctions& all, size_t max_bytes) {
    std::vector<size_t> bytes(all.functions.size());
    for (size_t i = 0; i < bytes.size(); ++i) {
      const FunctionName& name = all.functions[i];
      bytes[i] = 20 + BytesInJson(name.function) + BytesInJson(name.file);
    }
    const auto add = [&](const FunctionTables& tables) {
      for (const auto* rows : {&tables.self, &tables.located, &tables.inclusive}) {
        for (const FunctionRow& row : *rows) bytes[row.function] += BytesInJson(row);
      }
    };
    add(all);
    for (const FunctionTables& process : all.processes) add(process);
    const std::vector<double> weights = Weights(profile, all);
    std::vector<uint32_t> order(bytes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return weights[a] > weights[b]; });
    number_.assign(bytes.size(), kNone);
    size_t taken = 0;
    for (const uint32_t i : order) {
      if (!(weights[i] > 0)) continue;  // nothing is counted by it
      taken += bytes[i];
      if (taken > max_bytes && !IsOwnRow(all.functions[i])) {
        ++others_;
        continue;
      }
      number_[i] = static_cast<uint32_t>(chosen_.size());
      const FunctionName& name = all.functions[i];
      chosen_.push_back(
          {Shortened(name.function), Shortened(name.file), Shortened(name.module), name.kind});
    }
    rest_ = static_cast<uint32_t>(chosen_.size());
    if (others_ > 0) chosen_.push_back({kOtherFunctions, "", "", FrameKind::kRow});
  }

  std::vector<FunctionRow> Renumbered(const std::vector<FunctionRow>& rows, bool with_rest) const {
    std::vector<FunctionRow> out;
    std::map<uint32_t, FunctionRow> rest;  // by thread
    for (FunctionRow row : rows) {
      row.function = number_[row.function];
      if (row.function != kNone) {
        out.push_back(row);
      } else if (with_rest && others_ > 0) {
        FunctionRow& sum = rest[row.thread];
        sum.function = rest_;
        sum.thread = row.thread;
        AddFigures(sum, row);
        sum.variances += row.variances;
      }
    }
    for (const auto& [thread, row] : rest) out.push_back(row);
    std::sort(out.begin(), out.end(), [](const FunctionRow& a, const FunctionRow& b) {
      return std::pair(a.function, a.thread) < std::pair(b.function, b.thread);
    });
    return out;
  }

  FunctionTables Renumbered(const FunctionTables& tables) const {
    return {Renumbered(tables.self, true), Renumbered(tables.located, true),
            Renumbered(tables.inclusive, false)};
  }

  std::vector<FunctionName> TakeNames() { return std::move(chosen_); }
  uint64_t others() const { return others_; }

 private:
  // The page tells these from functions, so they never become part of the others.
  static bool IsOwnRow(const FunctionName& name) {
    return name.kind == FrameKind::kRow &&
           (name.function == kRuntimeRow || name.function == kNoProgramRow);
  }

  static constexpr uint32_t kNone = 0xffffffffu;
  std::vector<FunctionName> chosen_;
  std::vector<uint32_t> number_;
  uint32_t rest_ = 0;
  uint64_t others_ = 0;
};

}  // namespace

PageFunctions MakePageFunctions(const Profile& profile, const MergedTree& merged,
                                const PageRows& rows, size_t max_bytes) {
  const PageFunctions all = Counter(profile, merged, rows).Take();
  Selection selection(profile, all, max_bytes);
  PageFunctions page;
  static_cast<FunctionTables&>(page) = selection.Renumbered(all);
  for (const FunctionTables& process : all.processes) {
    page.processes.push_back(selection.Renumbered(process));
  }
  page.others = selection.others();
  page.functions = selection.TakeNames();
  return page;
}

}  // namespace memprof
