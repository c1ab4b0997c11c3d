// print_chains FILE BUILD_ID [DEBUG_DIRECTORY]: prints the symbolizer's answers for the addresses
// on standard input, one hexadecimal number a line. An address is an instruction's, as
// llvm-symbolizer and addr2line take it, not a return address.
//
// For each address it prints a line "0x…", then a line "function<TAB>file<TAB>line" for each frame,
// innermost first; those inlined into the next begin with "> ". Notes go to standard error.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "core/symbolizer/symbolizer.h"

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: print_chains FILE BUILD_ID [DEBUG_DIRECTORY] <addresses\n";
    return 2;
  }
  const std::vector<memprof::SnapshotModule> modules = {{argv[1], argv[2]}};
  memprof::SymbolizerOptions options;
  if (argc == 4) options.debug_directories = {argv[3]};
  std::vector<memprof::SnapshotFrame> frames;
  for (uint64_t address; std::cin >> std::hex >> address;) frames.push_back({0, address + 1});

  const auto symbolizer = memprof::MakeSymbolizer(options);
  const auto chains = symbolizer->Resolve(modules, frames);
  for (size_t i = 0; i < frames.size(); ++i) {
    std::cout << "0x" << std::hex << frames[i].offset - 1 << std::dec << '\n';
    for (const memprof::SourceFrame& frame : chains[i]) {
      std::cout << (frame.inlined ? "> " : "") << frame.function << '\t' << frame.file << '\t'
                << frame.line << '\n';
    }
  }
  for (const std::string& note : symbolizer->notes()) std::cerr << note << '\n';
  return 0;
}
