#include "cli/supervisor/processes/child_program.h"

#include <sys/wait.h>

#include <csignal>

#include "cli/basics/process_facts.h"
#include "cli/supervisor/processes/job_control.h"

namespace memprof {

std::optional<ProgramEnd> ChildProgram::Look() {
  const auto ended = EndOfProgram(pid_, wake_);
  if (!ended) return std::nullopt;
  ProgramEnd end;
  end.signalled = ended->si_code != CLD_EXITED;
  end.code = ended->si_status;
  end.is_there = !end.signalled;
  end.filtered = HasFiltersOfItsOwn(pid_);
  return end;
}

void ChildProgram::Reap() { waitpid(pid_, nullptr, 0); }

void ChildProgram::OnSignal(int number) {
  if (number != SIGCHLD) kill(pid_, number);
}

Result<void> ChildProgram::LetGo() {
  return Fail(ErrorKind::kUsage,
              "memprof run has started this program; its tracker stays as long as it runs");
}

}  // namespace memprof
