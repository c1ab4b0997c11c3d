#include "cli/run/doctor_command.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/run/diagnosis.h"
#include "cli/run/preflight.h"

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

CommandBody SetUpDoctor(CLI::App& app) {
  auto command = std::make_shared<std::vector<std::string>>();
  app.add_option("PROGRAM", *command,
                 "Also look at this program; it is not run. Arguments count for the loader "
                 "(ld-linux-x86-64.so.2 ./program)")
      ->type_name("COMMAND");
  return [command] { return Doctor(*command); };
}

}  // namespace memprof
