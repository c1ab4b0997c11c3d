#include "cli/run/doctor_command.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/run/diagnosis.h"
#include "cli/run/preflight.h"

namespace memprof {
namespace {

constexpr int kExitCannotProfile = 1;

int Doctor(const std::string& program) {
  Diagnosis diagnosis = DiagnoseHost();
  if (!program.empty()) {
    const Diagnosis of_program = DiagnoseProgram(program, ProgramSearchPath());
    diagnosis.text += "\n" + of_program.text;
    diagnosis.fine = diagnosis.fine && of_program.fine;
  }
  std::fputs(diagnosis.text.c_str(), stdout);
  return diagnosis.fine ? kExitFine : kExitCannotProfile;
}

}  // namespace

CommandBody SetUpDoctor(CLI::App& app) {
  auto program = std::make_shared<std::string>();
  app.add_option("PROGRAM", *program, "Also look at this program; it is not run")
      ->type_name("COMMAND");
  return [program] { return Doctor(*program); };
}

}  // namespace memprof
