#!/usr/bin/python3
"""The interactive tree, driven in tmux as a reader would: keys, sizes, hostile names; and plain text
wherever it isn't wanted."""
import os
import re
import shlex
import subprocess
import time
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
WAIT = 30  # seconds; a screen comes within one


class TreeScreenTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.profile([LEAKY])
        self.socket = self.path("tmux")

    def tmux(self, *arguments):
        return harness.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *arguments],
                           env=dict(os.environ, LANG="C.UTF-8", TERM="xterm-256color"),
                           cwd=self.directory)

    def open(self, *arguments, width=80, height=24):
        command = shlex.join([harness.MEMPROF, "tree", *arguments])
        done = self.tmux("new-session", "-d", "-x", str(width), "-y", str(height),
                         f"{command}; echo status $?; cat")
        self.addCleanup(self.tmux, "kill-server")
        self.assertEqual(done.returncode, 0, done.stderr)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options).stdout.decode()

    def until(self, holds):
        """The screen for which it holds; keys and drawing take their time."""
        end = time.monotonic() + WAIT
        while True:
            screen = self.screen()
            if holds(screen):
                return screen
            self.assertLess(time.monotonic(), end, screen)
            time.sleep(0.05)

    def cursor_line(self):
        """What is drawn in reverse."""
        for line in self.screen("-e").splitlines():
            reverse = re.search(r"\x1b\[(?:\d+;)*7m(.*)", line)
            if reverse:
                return reverse[1]
        return ""

    def until_cursor_at(self, text):
        self.until(lambda _: text in self.cursor_line())

    def test_a_reader_opens_closes_searches_sorts_and_quits(self):
        self.open("x.memprof")
        first = self.until(lambda s: "q quit" in s)
        self.assertIn("leaky_service  live at the peak: 783.9 KiB in 2,001 blocks", first)
        self.assertIn("▾ total", first)
        self.assertIn("▸ main", first)
        self.assertNotIn("Serve", first)
        self.until_cursor_at("total")
        self.keys("Down")
        self.until_cursor_at("main")
        self.keys("Right")
        opened = self.until(lambda s: "Session::Session()" in s)
        self.assertIn("▾ main", opened)
        self.keys("Left")
        self.until(lambda s: "Session::Session()" not in s)
        # A search opens what is above what it finds.
        self.keys("/")
        self.keys("-l", "rememberuser")
        self.until(lambda s: "/rememberuser" in s)
        self.keys("Enter")
        self.until_cursor_at("RememberUser(")
        self.keys("/")
        self.keys("-l", "no such thing")
        self.keys("Enter")
        self.until(lambda s: "no function, file or module has 'no such thing'" in s)
        self.keys("s")
        self.until(lambda s: "sorted by allocations" in s)
        self.keys("Home")
        self.until_cursor_at("total")
        self.keys("*")
        opened = self.until(lambda s: "RememberUser" in s and "Session::Session()" in s)
        self.assertIn("[runtime, kept by design]", opened)
        self.keys("*")
        closed = self.until(lambda s: "▸ total" in s)
        self.assertNotIn("main", closed)
        self.keys("q")
        # The terminal is as it was.
        self.until(lambda s: "status 0" in s)

    def test_keys_change_the_figure_and_the_direction(self):
        self.open("x.memprof")
        self.until(lambda s: "q quit" in s and "live at the peak: 783.9 KiB" in s)
        self.keys("b")
        self.until(lambda s: "bottom-up, live at the peak: 783.9 KiB" in s and "▸ main" not in s)
        self.keys("f")
        self.until(lambda s: "bottom-up, never freed: 315.1 KiB in 1,001 blocks" in s)
        self.keys("b")
        self.until(lambda s: "  never freed: 315.1 KiB" in s and "▸ main" in s)
        self.keys("f")
        self.until(lambda s: "  allocated: " in s)

    def test_a_search_goes_to_the_heaviest(self):
        self.open("x.memprof")
        self.until(lambda s: "q quit" in s)
        self.keys("/")
        self.keys("-l", "leaky_service.cc")
        self.keys("Enter")
        self.until_cursor_at("main")  # outermost, so it has all
        self.keys("n")
        self.until(lambda _: "main" not in self.cursor_line() and ".cc:" in self.cursor_line())

    def test_it_fills_any_width_and_follows_a_resize(self):
        self.open("x.memprof", width=200)
        self.until(lambda s: "q quit" in s)
        self.keys("*")
        wide = self.until(lambda s: "RememberUser(char const*)  leaky_service.cc:" in s)
        self.assertLessEqual(max(map(len, wide.splitlines())), 200)
        self.tmux("resize-window", "-x", "60", "-y", "8")
        narrow = self.until(lambda s: len(s.splitlines()) == 8 and "q quit" not in s)
        self.assertLessEqual(max(map(len, narrow.splitlines())), 60)
        self.keys("End")
        self.until_cursor_at("[runtime, kept by design]")
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.until(lambda s: "q quit" in s and "RememberUser" in s)
        self.keys("q")
        self.until(lambda s: "status 0" in s)

    def test_bottom_up_and_leaks_are_as_in_the_text(self):
        self.open("--leaks", "--bottom-up", "x.memprof")
        screen = self.until(lambda s: "q quit" in s)
        self.assertIn("bottom-up, never freed: 315.1 KiB in 1,001 blocks", screen)
        self.assertIn("▸ RememberUser(", screen)
        self.assertNotIn("Serve", screen)

    def test_names_do_not_drive_the_terminal(self):
        source = self.path("a\x1b[2J\x07ü.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stdlib.h>\nint main(void) { return malloc(4321) == 0; }\n")
        subprocess.run(["cc", "-g", "-O0", source, "-o", self.path("evil")], check=True)
        self.profile([self.path("evil")])
        self.open("x.memprof")
        self.until(lambda s: "main  a?[2J?ü.c:2" in s and "q quit" in s)

    def test_it_is_text_where_nobody_could_press_a_key(self):
        plain = self.memprof("tree", "x.memprof")
        self.assertNotIn("q quit", plain)
        self.open("--plain", "x.memprof")
        self.until(lambda s: "status 0" in s and "RememberUser" in s and "q quit" not in s)
        self.tmux("kill-server")
        for command in ("memprof tree x.memprof </dev/null", "memprof tree x.memprof | cat",
                        "TERM=dumb memprof tree x.memprof",
                        "TERM=no-such-terminal memprof tree x.memprof"):
            with self.subTest(command=command):
                self.socket = self.path("tmux-" + str(len(command)))
                self.tmux("new-session", "-d", "-x", "100", "-y", "40",
                          command.replace("memprof", shlex.quote(harness.MEMPROF), 1) +
                          "; echo status $?; cat")
                self.addCleanup(self.tmux, "kill-server")
                self.until(lambda s: "status 0" in s and "RememberUser" in s)
                self.tmux("kill-server")


if __name__ == "__main__":
    unittest.main(verbosity=2)
