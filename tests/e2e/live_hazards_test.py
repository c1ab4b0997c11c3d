#!/usr/bin/python3
"""Viewers of programs that harm their own figures, end at any moment, or have names that a terminal obeys."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

import harness
import live_runs

# Overwrites its own region for some seconds. Afterwards nothing of the tracker is called: it may not find
# its own tables again.
HOSTILE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kHeader = 1 << 14, kTables = 1 << 23 };

static uint64_t state;

static uint64_t Next(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int main(int count, char** arguments) {
  state = strtoull(arguments[1], NULL, 10);
  const int header = arguments[2][0] == 'h';
  for (int i = 0; i < 1000; ++i) *(void* volatile*)malloc(64) = NULL;
  char line[512];
  unsigned char *begin = NULL, *end = NULL;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (begin == NULL && fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "memfd:memprof-region") != NULL) sscanf(line, "%p-%p", (void**)&begin, (void**)&end);
  }
  if (begin == NULL) return 3;
  struct timespec pause = {0, 1000000}, last, now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &last);
  do {
    for (int i = 0; i < 200; ++i) {
      const uint64_t room = header ? kHeader : kTables;
      unsigned char* at = begin + (header ? 0 : kHeader) + Next() % room / 8 * 8;
      const uint64_t any = Next();
      const uint64_t value = any >> (any & 63);
      if (at + 8 <= end) memcpy(at, &value, 8);
    }
    syscall(SYS_nanosleep, &pause, NULL);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - last.tv_sec < 4);
  syscall(SYS_exit_group, 7);
}
"""
ESCAPES = "p\x1b]0;title\x07\x1b[2Jq\nr"


class HazardsTest(live_runs.LiveRuns):
    def hostile(self, where, seed):
        with open(self.path("hostile.c"), "w", encoding="utf-8") as file:
            file.write(HOSTILE)
        harness.run(["gcc", "-g", "-O1", self.path("hostile.c"), "-o", self.path("hostile")], check=True)
        run = subprocess.Popen([harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--",
                                self.path("hostile"), str(seed), where], stderr=subprocess.DEVNULL)
        self.addCleanup(harness.end_process, run)
        end = time.monotonic() + live_runs.WAIT
        while run.pid not in [each["supervisor"] for each in self.list()]:
            self.assertLess(time.monotonic(), end)
        return run

    def test_figures_that_are_written_over_crash_no_viewer(self):
        views = (("--by", "site"), ("--by", "function", "--inclusive"), ("--by", "thread"), ("--by", "process"))
        for where in ("header", "tables"):
            for seed in (1,):
                with self.subTest(where=where, seed=seed):
                    run = self.hostile(where, seed)
                    viewers = [subprocess.Popen([harness.MEMPROF, "top", "--json", "-d", "0.1", *view,
                                                 str(run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                               for view in views]
                    looks = 0
                    for viewer in viewers:
                        out, err = viewer.communicate(timeout=harness.TIMEOUT)
                        self.assertIn(viewer.returncode, (0, 2), err)
                        for line in out.splitlines():
                            self.assertEqual(json.loads(line)["schema"], 1)
                            looks += 1
                    self.assertGreater(looks, 10)
                    self.assertEqual(run.wait(harness.TIMEOUT), 7)

    def test_the_screen_outlives_figures_that_are_written_over(self):
        run = self.hostile("tables", 3)
        self.terminal([harness.MEMPROF, "top", "-d", "0.1", str(run.pid)], 100, 30)
        self.until("q quit")
        for _ in range(5):
            self.keys("Home", "Enter", "Right", "d", "b", "s", "o", "z", "x")
            time.sleep(0.3)
        self.until("ended after")
        self.keys("Escape", "q")
        self.until("status 0")

    def test_names_that_a_terminal_would_obey_are_shown_as_text(self):
        os.mkdir(self.path(ESCAPES))
        program = os.path.join(self.path(ESCAPES), ESCAPES)
        os.rename(self.path("service"), program)
        run = subprocess.Popen([harness.MEMPROF, "run", "-q", "-o", os.path.join(self.path(ESCAPES), ESCAPES + ".memprof"),
                                "--", program])
        self.addCleanup(harness.end_process, run)
        end = time.monotonic() + live_runs.WAIT
        while True:
            mine = [each for each in self.list() if each["supervisor"] == run.pid]
            if mine and mine[0]["live_bytes"] >= 5050000:
                break
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertEqual(mine[0]["program"], ESCAPES)
        texts = [self.memprof("list", env={**os.environ, "COLUMNS": "300"})]
        for by in ("place", "function", "site", "module", "process"):
            texts.append(self.memprof("top", "--once", "-d", "0.1", "--by", by, str(run.pid)))
        for text in texts:
            self.assertTrue(all(line.isprintable() for line in text.split("\n")), ascii(text))
        self.terminal([harness.MEMPROF, "top", "-d", "0.1", str(run.pid)], 100, 30)
        self.until("q quit", "p?]0;title??[2Jq?r", "service.c:15")
        for keys in (("f",), ("w", "Enter")):
            self.keys(*keys)
            self.until("written: ", "p?]0;title")
            self.keys("o", "o")
            self.until("own figures")
        self.keys("q")
        self.until("status 0")

    def test_a_program_that_ends_at_any_moment_ends_its_viewers(self):
        for i in range(1, 13):
            run = subprocess.Popen([harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--",
                                    "sh", "-c", f"exec timeout 0.{i:02} {self.path('service')}"],
                                   stderr=subprocess.DEVNULL)
            viewer = subprocess.Popen([harness.MEMPROF, "top", "--json", "-d", "0.05", str(run.pid)],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, err = viewer.communicate(timeout=harness.TIMEOUT)
            run.wait(harness.TIMEOUT)
            lines = [json.loads(line) for line in out.splitlines()]
            if viewer.returncode == 2:  # it came first, or last
                self.assertIn(b"not run by memprof", err)
            else:
                self.assertEqual(viewer.returncode, 0, err)
                self.assertTrue(lines[-1]["ended"])

    def test_descendants_that_live_on_keep_no_viewer_waiting(self):
        run = subprocess.Popen([harness.MEMPROF, "run", "-q", "-o", self.path("x.memprof"), "--", "sh", "-c",
                                f"{self.path('service')} & echo $!; sleep 4"], stdout=subprocess.PIPE)
        left = int(run.stdout.readline())
        self.addCleanup(run.stdout.close)
        self.addCleanup(os.kill, left, signal.SIGTERM)
        end = time.monotonic() + live_runs.WAIT
        while run.pid not in [each["supervisor"] for each in self.list()]:
            self.assertLess(time.monotonic(), end)
        viewer = subprocess.Popen([harness.MEMPROF, "top", "--json", "-d", "0.1", str(run.pid)],
                                  stdout=subprocess.PIPE)
        out = viewer.communicate(timeout=harness.TIMEOUT)[0]
        run.wait(live_runs.WAIT)
        self.assertTrue(json.loads(out.splitlines()[-1])["ended"])
        os.kill(left, 0)
        self.assertFalse(re.search("silent|answer", self.memprof("list")))


if __name__ == "__main__":
    unittest.main()
