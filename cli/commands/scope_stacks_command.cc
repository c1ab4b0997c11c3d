// memprof scope-stacks: memprof/gtest.h and memprof/benchmark.h call it when they need names.
//
// stdin: ScopeStacksInput. stdout: a line "EXCEPTED-BYTES BLOCKS KEPT-BYTES BLOCKS" for the
// program, with `net` also "LEAKED-BYTES BLOCKS", then the text.

#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/scope_stacks/scope_stacks_input.h"
#include "cli/scope_stacks/scope_stacks_text.h"
#include "cli/symbols/symbol_options.h"
#include "cli/terminal/output.h"

namespace memprof {

CommandBody SetUpScopeStacks(Arguments&) {
  return [] {
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    auto input = ReadScopeStacks(text);
    if (!input) return ExitStatusOf(input.error());
    SymbolizerOptions options;
    // A failing test doesn't wait for a server.
    options.download_limit = std::chrono::milliseconds(0);
    const auto symbolizer = MakeSymbolizer(options);
    const auto report =
        ReportScopeStacks(*input, MakeProfile(std::move(input->snapshot), *symbolizer));
    std::string sums = fmt::format("{} {} {} {}", report.excepted.bytes, report.excepted.blocks,
                                   report.kept.bytes, report.kept.blocks);
    if (input->net) sums += fmt::format(" {} {}", report.leaked.bytes, report.leaked.blocks);
    return WriteOutput({}, sums + "\n" + report.text);
  };
}

}  // namespace memprof
