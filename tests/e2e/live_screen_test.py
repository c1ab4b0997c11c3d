#!/usr/bin/python3
"""memprof top and memprof run --live in a terminal: each key is typed, and its effect is looked for."""
import glob
import json
import os
import re
import signal
import time
import unittest

import harness
import live_runs

TALKER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void* volatile held;

int main(void) {
  held = malloc(123456);
  for (int i = 0; i < 30; ++i) {
    printf("out %d\n", i);
    fflush(stdout);
    fprintf(stderr, "err %d\n", i);
    usleep(1000);
    for (int waits = 0; i == 5 && access("go", F_OK) != 0 && waits < 12000; ++waits) usleep(10000);
  }
  usleep(200000);  // so that it is the last line in the pane, which shows two streams
  char byte;
  printf("input %zd\x1b[31m\n", read(0, &byte, 1));
  return 7;
}
"""


class ScreenTest(live_runs.LiveRuns):
    def cursor(self):
        """The line of the cursor, which is drawn in reverse."""
        screen = self.tmux("capture-pane", "-p", "-e")
        lines = [line for line in screen.splitlines() if "\x1b[7m" in line]
        return re.sub(r"\x1b\[[0-9;]*m", "", lines[0]) if lines else ""

    def until_cursor(self, text):
        end = time.monotonic() + live_runs.WAIT
        while text not in self.cursor():
            self.assertLess(time.monotonic(), end, f"no cursor at {text}:\n{self.screen()}")
            time.sleep(0.05)

    def order(self):
        """The rows' names, from the top."""
        names = re.findall(r"[▸▾ ] (main|grow|churn) +service", self.screen())
        return [name for name in names if name]

    def until_order(self, *names):
        end = time.monotonic() + live_runs.WAIT
        while self.order() != list(names):
            self.assertLess(time.monotonic(), end, self.screen())
            time.sleep(0.05)

    def top(self, run, width, height, **environment):
        self.terminal([harness.MEMPROF, "top", "-d", "0.2", str(run.pid)], width, height, **environment)
        self.until("service.c:8", "grow", "q quit")

    def sort_and_group(self):
        self.until_order("main", "grow", "churn")
        self.keys("s")
        self.until("sorted by change")
        self.keys("<")
        self.until("sorted by live")
        self.keys("<")
        self.until("sorted by name")
        self.until_order("churn", "grow", "main")
        self.keys(">")
        self.until("sorted by live")
        self.until_order("main", "grow", "churn")
        self.keys("b")
        self.until("by function")
        self.keys("b")
        self.until("by site", "grow ← main")
        self.keys("b")
        self.until("by module", "▸ service", without=("grow",))
        self.keys("b")
        self.until("by thread", "thread", without=("grow",))
        self.keys("b")
        self.until("by process", f"service {self.pid}", without=("grow",))
        self.keys("b")
        self.until("by place", "grow")

    def move_and_open(self):
        self.keys("End")
        self.until_cursor("churn")
        self.keys("Home")
        self.until_cursor("main")
        self.keys("Down")
        self.until_cursor("grow")
        self.keys("Up")
        self.until_cursor("main")
        self.keys("j")
        self.until_cursor("grow")
        self.keys("k")
        self.until_cursor("main")
        self.keys("NPage")
        self.until_cursor("churn")
        self.keys("PPage")
        self.until_cursor("main")
        self.keys("G")
        self.until_cursor("churn")
        self.keys("g")
        self.until_cursor("main")
        self.keys("/")
        self.until("find:")
        self.keys("gro", "Enter")
        self.until_cursor("grow")
        self.keys("Enter")
        opened = self.until("▾ grow")
        self.assertRegex(opened, r"  main +service.c:20")
        self.keys("Left")
        self.until("▸ grow")
        self.keys("Right")
        self.until("▾ grow")
        self.keys("Right")
        self.until_cursor("service.c:20")
        self.keys("Left")
        self.until_cursor("▾ grow")
        self.keys("Enter")
        self.until("▸ grow")
        self.keys("/", "service.c:", "Enter")
        self.until_cursor("churn")
        self.keys("n")
        self.until_cursor("main")
        self.keys("N")
        self.until_cursor("churn")

    def turn_and_sum_up(self):
        self.keys("o")
        self.until("with what is called", without=("  total",))
        self.keys("o")
        self.until("own figures", "  total")
        self.keys("b")
        self.until("by function")
        self.keys("d")
        self.until("opens what is called from there")
        self.keys("Home", "Enter")
        opened = self.until("▾ main", "[own]")
        self.assertRegex(opened, r"    . grow")
        self.keys("d")
        self.until("opens who called there", without=("▾",))
        self.keys("o", "b", "b", "b", "b", "b")
        self.until("by place", "  total")

    def filter_and_zero(self):
        self.keys("\\")
        self.until("rows with:")
        self.keys("chu", "Enter")
        self.until("churn", "filter: chu", without=("grow",))
        self.keys("\\", "BSpace", "BSpace", "BSpace", "Enter")
        self.until("grow")
        self.keys("z")
        self.until("since now 0 B")
        self.keys("z")
        self.until("heap 4.8 MiB")
        self.keys("x")
        self.until(f"process {self.pid}")
        self.keys("x")
        self.until("the whole tree")
        for key in ("p", "Space"):
            self.keys(key)
            paused = self.until("PAUSED").splitlines()[0]
            time.sleep(0.5)
            self.assertEqual(self.screen().splitlines()[0], paused)
            self.keys(key)
            self.until("going on", without=("PAUSED",))
        self.keys("/", "Escape")
        self.until("? help")

    def leave_files(self):
        self.keys("f")
        self.until("written: ")
        with open(glob.glob(self.path("x.memprof.*.html"))[0], encoding="utf-8") as file:
            self.assertIn("grow", file.read())
        self.keys("w")
        self.until("write to: ")
        self.keys("Enter")
        self.until("written: ")
        saved = glob.glob(self.path("x.[0-9]*.memprof"))
        stats = json.loads(self.memprof("stats", "--json", saved[0]))
        self.assertEqual(stats["leaked"]["bytes"], 5050000)
        self.keys("w")
        self.until("write to: ")
        self.keys("C-u", *["BSpace"] * 120, "service.c", "Enter")
        self.until("service.c", "exists")
        self.keys("m")
        self.until("name of the snapshot")
        self.keys("warm", "Enter")
        self.until("snapshot 'warm' at")
        self.keys("t")
        self.until("bottom-up")
        self.keys("q")
        self.until("service.c:8")
        self.keys("v")
        self.until("only memprof run --live")
        for key in ("?", "h"):
            self.keys(key)
            self.until("takes a named snapshot")
            self.keys(key)
            self.until("grow", without=("takes a named",))

    def every_key(self, width, height):
        run = self.start()
        self.pid = next(each["pid"] for each in self.list() if each["supervisor"] == run.pid)
        self.top(run, width, height, DISPLAY="", WAYLAND_DISPLAY="")
        self.until("heap over time", "RSS over time")
        self.sort_and_group()
        self.move_and_open()
        self.turn_and_sum_up()
        self.filter_and_zero()
        self.leave_files()
        for columns, rows in ((40, 10), (20, 5), (120, 40), (width, height)):
            self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            screen = self.until("live" if rows > 5 else "service")
            self.assertTrue(all(len(line) <= columns for line in screen.splitlines()))
        run.send_signal(signal.SIGTERM)
        self.until("the run has ended", "ended after", "4.8")
        self.keys("q")
        self.until("status 0")

    def test_every_key_has_its_effect_in_80_columns(self):
        self.every_key(80, 24)

    def test_every_key_has_its_effect_in_a_large_terminal(self):
        self.every_key(200, 50)

    def test_80_columns_have_every_figure(self):
        self.top(self.start(), 80, 24)
        for heading in ("live", "change", "/min", "blocks", "alloc/s", "peak", "share", "function"):
            self.until(heading)

    def test_the_program_is_inspected_where_that_is_wanted(self):
        self.top(self.start(), 80, 16)
        self.keys("i")
        self.until("stands still twice for about", "Enter: do it")
        self.keys("Escape")
        self.until("q quit", without=["stands still"])
        self.keys("i")
        self.until("Enter: do it")
        self.keys("Enter")
        self.until("51 blocks live", "kept (service, .bss) → grow service.c:8", "any other key goes back")
        self.keys("Down")
        self.until("lost indirectly", without=["51 blocks live"])
        self.keys("Home")
        self.until("51 blocks live")
        self.keys("q")
        self.until("q quit", "service.c:8")

    def test_a_page_is_opened_where_there_is_a_display(self):
        run = self.start()
        os.mkdir(self.path("bin"))
        with open(self.path("bin/xdg-open"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$1" > {self.path("opened")}\n')
        os.chmod(self.path("bin/xdg-open"), 0o755)
        self.top(run, 120, 30, DISPLAY=":7", PATH=self.path("bin") + ":" + os.environ["PATH"])
        self.keys("f")
        self.until("opened: ")
        end = time.monotonic() + live_runs.WAIT
        while not os.path.exists(self.path("opened")) or os.path.getsize(self.path("opened")) == 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        with open(self.path("opened"), encoding="utf-8") as file:
            self.assertTrue(os.path.exists(file.read().strip()))

    def test_a_viewer_whose_terminal_is_closed_ends_alone(self):
        run = self.start()
        self.terminal(["sh", "-c", f"echo $$ > viewer; exec {harness.MEMPROF} top {run.pid}"], 80, 24)
        self.until("q quit")
        with open(self.path("viewer"), encoding="utf-8") as file:
            viewer = int(file.read())
        self.tmux("kill-server")
        end = time.monotonic() + live_runs.WAIT
        while os.path.exists(f"/proc/{viewer}"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertIsNone(run.poll())
        self.assertIn(run.pid, [each["supervisor"] for each in self.list()])

    def test_a_stopped_memprof_is_said_and_keys_still_work(self):
        run = self.start()
        self.top(run, 120, 30)
        run.send_signal(signal.SIGSTOP)
        self.until("doesn't answer")
        self.keys("b")
        self.until("by function")
        self.keys("q")
        self.until("status 0")


class RunLiveTest(live_runs.LiveRuns):
    def setUp(self):
        super().setUp()
        with open(self.path("talker.c"), "w", encoding="utf-8") as file:
            file.write(TALKER)
        harness.run(["gcc", "-g", self.path("talker.c"), "-o", self.path("talker")], check=True)

    def run_live(self, width=100, height=30):
        command = f"echo $$ > memprof; exec {harness.MEMPROF} run --live -o x.memprof ./talker 2>err"
        self.terminal(["sh", "-c", command], width, height)
        self.until("talker.c:9", "main", "the program's input is /dev/null")
        with open(self.path("memprof"), encoding="utf-8") as file:
            self.pid = int(file.read())

    def go_on(self):
        """The program waits for this after its first lines."""
        with open(self.path("go"), "w", encoding="utf-8"):
            pass

    def errors(self):
        with open(self.path("err"), encoding="utf-8") as file:
            return file.read()

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="utf-8") as file:
            return [int(pid) for pid in file.read().split()]

    def view(self):
        for pid in self.children():
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                if file.read().strip() == "memprof":
                    return pid
        return self.fail("no view")

    def assert_all_is_printed(self):
        output = self.tmux("capture-pane", "-p", "-S", "-")
        for i in range(30):
            self.assertEqual(len(re.findall(rf"^out {i}$", output, re.M)), 1, output)
            self.assertEqual(len(re.findall(rf"^err {i}$", self.errors(), re.M)), 1, self.errors())
        self.assertIn("input 0", output)
        self.assertNotIn("err 1", output)
        self.assertIn("peak 1", self.errors())

    def test_output_is_in_a_pane_and_printed_whole_at_the_end(self):
        for width, height in ((80, 24), (200, 50)):
            with self.subTest(width=width):
                self.run_live(width, height)
                self.keys("v")
                self.until("the program's output", "out 5", "err 5")
                self.keys("v")
                self.until("main", without=("out 5",))
                self.go_on()
                self.until("the run has ended", "ended after")
                self.keys("v")
                self.until("input 0")
                self.keys("q")
                self.until("status 7")
                self.assert_all_is_printed()
                self.tmux("kill-server")
                os.unlink(self.path("x.memprof"))
                os.unlink(self.path("go"))

    def test_a_view_that_is_left_early_leaves_the_program(self):
        self.run_live()
        self.keys("q")
        self.until("out 2", without=("status",))
        self.go_on()
        self.until("status 7")
        self.assert_all_is_printed()

    def test_a_view_that_is_killed_loses_nothing(self):
        self.run_live()
        os.kill(self.view(), signal.SIGKILL)
        self.go_on()
        self.until("status 7")
        self.assert_all_is_printed()

    def test_ctrl_c_ends_the_program_first_and_then_the_view(self):
        self.run_live()
        self.keys("C-c")
        self.until("the run has ended")
        self.keys("C-c")
        self.until("status 130", "out 1")

    def test_a_closed_terminal_ends_the_program_and_leaves_the_capture(self):
        self.run_live()
        self.tmux("kill-server")
        end = time.monotonic() + live_runs.WAIT
        while os.path.exists(f"/proc/{self.pid}"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        stats = json.loads(self.memprof("stats", "--json", self.path("x.memprof")))
        self.assertEqual(stats["end"]["kind"], "signal", stats["end"])

    def test_without_a_terminal_it_is_refused(self):
        done = harness.run([harness.MEMPROF, "run", "--live", "true"], cwd=self.directory)
        self.assertEqual(done.returncode, 125)
        self.assertIn("--live needs a terminal", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
