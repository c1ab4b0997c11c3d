// memprof doctor [PROGRAM]: what memprof can see of a program, what is missing, and what to
// install. Exit status: 0 if it can be profiled, 1 if not.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/doctor/diagnosis.h"
#include "cli/preflight/preflight.h"

namespace memprof {
namespace {

constexpr int kExitCannotProfile = 1;

int Doctor(const std::vector<std::string>& command) {
  Diagnosis diagnosis = DiagnoseHost();
  if (!command.empty()) {
    const Diagnosis of_program = DiagnoseProgram(command, ProgramSearchPath());
    diagnosis.text += "\n" + of_program.text;
    diagnosis.fine = diagnosis.fine && of_program.fine;
  }
  std::fputs(diagnosis.text.c_str(), stdout);
  return diagnosis.fine ? kExitFine : kExitCannotProfile;
}

}  // namespace

CommandBody SetUpDoctor(Arguments& arguments) {
  auto command = std::make_shared<std::vector<std::string>>();
  arguments
      .Add("PROGRAM", *command,
           "Also look at this program; it is not run. Arguments count for the loader "
           "(ld-linux-x86-64.so.2 ./program)")
      .TypeName("COMMAND");
  return [command] { return Doctor(*command); };
}

}  // namespace memprof
