#!/usr/bin/python3
"""What a process has from before an exec of memprof is the program's: timers, and what systemd says to a
process by its pid."""
import signal
import subprocess
import sys
import unittest

import harness

# Executes the command in argv with a timer, or with variables that name its own pid.
ALARM = "import os, signal, sys; signal.alarm(1); os.execvp(sys.argv[1], sys.argv[1:])"
LISTEN = ("import os, sys; pid = str(os.getpid()); "
          "os.environ.update(LISTEN_PID=pid, LISTEN_FDS='1', WATCHDOG_PID=pid); "
          "os.execvp(sys.argv[1], sys.argv[1:])")
FOREIGN = ("import os, sys; os.environ.update(LISTEN_PID='1'); os.execvp(sys.argv[1], sys.argv[1:])")
SHOW = "import os; print(*(os.environ.get(n) == str(os.getpid()) for n in ('LISTEN_PID', 'WATCHDOG_PID')))"


class InheritedByExecTest(harness.MemprofTest):
    def run_by(self, code, *command):
        return subprocess.run(
            [sys.executable, "-c", code, harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"),
             "--", *command],
            capture_output=True, text=True, timeout=harness.TIMEOUT, check=False)

    def test_a_timer_goes_on_in_the_program(self):
        run = self.run_by(ALARM, "/bin/sleep", "20")
        self.assertEqual(run.returncode, 128 + signal.SIGALRM)

    def test_what_systemd_says_is_said_to_the_program(self):
        run = self.run_by(LISTEN, "/usr/bin/python3", "-c", SHOW)
        self.assertEqual(run.stdout, "True True\n")
        run = self.run_by(FOREIGN, "/bin/sh", "-c", "echo $LISTEN_PID")
        self.assertEqual(run.stdout, "1\n")


if __name__ == "__main__":
    unittest.main()
