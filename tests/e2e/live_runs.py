"""Shared by the tests of live views: a service under memprof, and a terminal (tmux)."""
import json
import os
import shlex
import subprocess
import time

import harness

PROGRAM = r"""
#include <stdlib.h>
#include <unistd.h>

static void* volatile kept[100000];
static int count;

__attribute__((noinline)) static void grow(void) { kept[count++] = malloc(1000); }
__attribute__((noinline)) static void churn(void) {
  void* volatile block = malloc(64);
  free(block);
}

int main(int argc, char** argv) {
  void* volatile held = malloc(5000000);
  const pid_t parent = getpid();
  const int forked = argc > 1 && fork() == 0;
  for (int i = 0; i < 30000 && (!forked || getppid() == parent); ++i) {
    for (int k = 0; k < 10; ++k) churn();
    if (i < 50) grow();
    usleep(10000);
  }
  free(held);
  return 0;
}
"""
WAIT = 60  # seconds


class LiveRuns(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        with open(self.path("service.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        harness.run(["gcc", "-g", "-O1", self.path("service.c"), "-o", self.path("service")], check=True)

    def start(self, *arguments, name="x.memprof"):
        """Under memprof; ended after the test. Returns memprof's process when the program has grown."""
        run = subprocess.Popen([harness.MEMPROF, "run", "-q", "-o", self.path(name), "--",
                                self.path("service"), *arguments], cwd=self.directory)
        self.addCleanup(harness.end_process, run)
        processes = 1 + len(arguments)
        end = time.monotonic() + WAIT
        while True:
            mine = [each for each in self.list() if each["capture"] == self.path(name)]
            if mine and mine[0]["processes"] == processes and \
                    mine[0]["live_bytes"] >= 5000000 + processes * 50000:
                return run
            self.assertLess(time.monotonic(), end, mine)
            time.sleep(0.05)

    def list(self):
        return json.loads(self.memprof("list", "--json"))["runs"]

    def terminal(self, command, width, height, **environment):
        """Starts the command in a terminal; it says its status at the end."""
        # A server that is just ending may still answer at its socket.
        self.terminals = getattr(self, "terminals", 0) + 1
        self.socket = self.path(f"tmux{self.terminals}")
        self.environment = {**os.environ, "LANG": "C.UTF-8", "TERM": "xterm-256color", **environment}
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height),
                  f"{shlex.join(command)}; echo status $?; cat")
        self.addCleanup(self.tmux, "kill-server")

    def tmux(self, *arguments):
        return harness.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *arguments],
                           env=self.environment, cwd=self.directory).stdout.decode()

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def until(self, *texts, without=()):
        """Waits until the screen has these texts, and none of the others; returns it."""
        end = time.monotonic() + WAIT
        while True:
            screen = self.screen()
            if all(text in screen for text in texts) and not any(text in screen for text in without):
                return screen
            self.assertLess(time.monotonic(), end, f"{texts}, without {without}:\n{screen}")
            time.sleep(0.05)
