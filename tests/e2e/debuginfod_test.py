#!/usr/bin/python3
"""Debug info from the servers of DEBUGINFOD_URLS: found, not found, too slow, and kept."""
import os
import pty
import re
import shutil
import subprocess
import time
import unittest

import harness
from debug_server import DebugServer

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
PLACE = r"RememberUser\(char const\*\) +\S*leaky_service\.cc:\d+"


class DebuginfodTest(harness.MemprofTest):
    """The program's debug info is taken from it after the run; what a server has is in `files`."""

    def setUp(self):
        super().setUp()
        self.program = self.path("service")
        shutil.copy(LEAKY, self.program)
        self.profile([self.program])
        debug = self.path("service.debug")
        self.do("objcopy", "--only-keep-debug", self.program, debug)
        self.do("strip", "--strip-debug", self.program)
        notes = subprocess.run(["readelf", "-n", self.program], capture_output=True, text=True,
                               check=True, env=dict(os.environ, LC_ALL="C")).stdout
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        with open(debug, "rb") as file:
            self.files = {self.build_id: file.read()}
        os.unlink(debug)

    def do(self, *command):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)

    def environment(self, server):
        return dict(os.environ, DEBUGINFOD_URLS=server.url, COLUMNS="200",
                    DEBUGINFOD_CACHE_PATH=self.path("cache"), HOME=self.directory)

    def summary(self, server, *options):
        return self.memprof("summary", "--leaks", *options, self.path("x.memprof"),
                            env=self.environment(server))

    def note(self, text):
        notes = [line for line in " ".join(text.split()).split("symbols: ") if "service" in line]
        return notes[-1]

    def test_lines_come_from_the_server_once_and_then_from_the_cache(self):
        self.assertNotRegex(self.memprof("table", self.path("x.memprof")), PLACE)
        with DebugServer(self.files) as server:
            first = self.summary(server)
            self.assertRegex(first, PLACE)
            self.assertEqual(server.requests.count(self.build_id), 1)
            self.assertEqual(self.summary(server), first)
            self.assertEqual(server.requests.count(self.build_id), 1)

    def test_a_program_that_is_gone_is_named_by_its_debug_info(self):
        os.unlink(self.program)
        with DebugServer(self.files) as server:
            self.assertRegex(self.summary(server), PLACE)

    def test_what_no_server_has_is_the_symbol_and_said(self):
        with DebugServer() as server:
            text = self.summary(server)
            self.assertIn(self.build_id, server.requests)
        self.assertRegex(text, r"RememberUser\(char const\*\)")
        self.assertNotRegex(text, PLACE)
        self.assertRegex(self.note(text), "no server of DEBUGINFOD_URLS gave any")

    def test_a_server_that_is_not_there_is_no_failure(self):
        with DebugServer() as server:
            gone = server
        text = self.summary(gone)
        self.assertRegex(text, r"RememberUser\(char const\*\)")

    def test_a_server_that_hangs_costs_the_time_that_is_allowed_and_no_more(self):
        with DebugServer(self.files, hangs=True) as server:
            start = time.monotonic()
            text = self.summary(server, "--download-limit", "1")
            # A second of waiting and what the library takes to notice; all modules together.
            self.assertLess(time.monotonic() - start, 20)
            self.assertTrue(server.requests)
        self.assertRegex(text, r"RememberUser\(char const\*\)")
        self.assertRegex(text, r"took too long")
        self.assertRegex(text, r"--download-limit")

    def test_nothing_is_asked_if_nothing_may_be_downloaded_or_no_server_is_named(self):
        with DebugServer(self.files) as server:
            self.assertNotRegex(self.summary(server, "--download-limit", "0"), "took too long")
            environment = dict(self.environment(server), DEBUGINFOD_URLS="")
            self.memprof("summary", self.path("x.memprof"), env=environment)
            self.assertEqual(server.requests, [])

    def test_limits_that_are_none_are_refused(self):
        for value in ("-1", "soon", "", "1..5"):
            self.memprof("table", f"--download-limit={value}", self.path("x.memprof"), status=2)

    def test_progress_is_shown_on_a_terminal_alone(self):
        with DebugServer(self.files, hangs=True) as server:
            command = [harness.MEMPROF, "table", "--download-limit", "2", self.path("x.memprof")]
            master, slave = pty.openpty()
            done = harness.run(command, capture_output=False, stdout=subprocess.PIPE, stderr=slave,
                               env=dict(self.environment(server), TERM="xterm"))
            os.close(slave)
            said = os.read(master, 65536).decode()
            os.close(master)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(said, r"\r\x1b\[Kmemprof: asking for debug info of ")
            self.assertTrue(said.endswith("\r\x1b[K"), said)
            piped = harness.run(command, env=self.environment(server))
            self.assertEqual((piped.returncode, piped.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
