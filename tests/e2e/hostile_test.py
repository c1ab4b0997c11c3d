#!/usr/bin/python3
"""A program that overwrites the memory shared with its supervisor. The supervisor goes on, says what
is lost, and ends as the program did; no other process is touched, and no report crashes.
"""
import glob
import json
import os
import subprocess
import time
import unittest

import harness

HOSTILE = os.path.join(harness.PROGRAMS, "hostile_tree")
STATUS = 7
SEEDS = range(1, 4)
MILLISECONDS = "700"
SUPERVISOR_ENDS_WITHIN = 30  # seconds after the program's last process


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


class HostileTest(harness.MemprofTest):
    def hostile(self, what, seed, *flags, milliseconds=MILLISECONDS):
        done = harness.run([harness.MEMPROF, "run", harness.EACH, "-f", "-o", self.path("x.memprof"), *flags, "--",
                            HOSTILE, what, milliseconds, str(seed)], cwd=self.directory)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, STATUS, said)
        for line in said.splitlines():
            self.assertTrue(line.startswith("memprof: "), said)
            self.assertTrue(line.isprintable(), ascii(said))
        self.assert_supervisors_end()
        return said

    def assert_supervisors_end(self):
        """Claims that nobody proves keep no supervisor in the background for ever."""
        output = os.fsencode(self.path("x.memprof"))
        deadline = time.monotonic() + SUPERVISOR_ENDS_WITHIN
        while left := [pid for pid in filter(str.isdigit, os.listdir("/proc"))
                       if output in command_line(pid)]:
            self.assertLess(time.monotonic(), deadline, f"still there: {left}")
            time.sleep(0.1)

    def assert_readable(self, said):
        """Each capture that there is can be shown; where there is none, that was said."""
        captures = glob.glob(self.path("*.memprof"))
        if not os.path.exists(self.path("x.memprof")):
            self.assertRegex(said, "no capture|capture could not be written")
        for capture in captures:
            text = self.memprof("summary", capture)
            self.assertTrue(all(line.isprintable() for line in text.splitlines()), ascii(text))

    def test_the_children_s_area_written_over(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assert_readable(self.hostile("area", seed))

    def test_regions_written_over(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assert_readable(self.hostile("region", seed))

    def test_all_that_is_shared_written_over(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assert_readable(self.hostile("all", seed))

    def test_a_region_in_a_file_written_over(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                region = self.path(f"x{seed}.region")
                said = self.hostile("region", seed, "--no-follow-fork", "--region", region)
                self.assert_readable(said)
                # The file itself is what a report may be given.
                done = harness.run([harness.MEMPROF, "summary", region], cwd=self.directory)
                self.assertIn(done.returncode, (0, 3), done.stderr.decode())  # shown, or unreadable

    def test_slots_claimed_in_the_name_of_another_process(self):
        bystander = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(bystander.wait)
        self.addCleanup(bystander.kill)
        begun = time.monotonic()
        self.hostile("claim", bystander.pid)
        self.assertLess(time.monotonic() - begun, 60)
        self.assertIsNone(bystander.poll())
        captures = glob.glob(self.path("x.*.memprof"))
        self.assertTrue(captures)
        for capture in captures:
            self.assertNotIn("sleep", json.dumps(self.sites(os.path.basename(capture))))

    def test_a_process_that_was_named_in_a_claim_has_children_that_are_nobody_s_business(self):
        shell = subprocess.Popen(["sh", "-c", "sleep 1000 & read line; kill $!"], stdin=subprocess.PIPE)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.stdin.close)
        self.hostile("claim", shell.pid, milliseconds="3000")
        self.assertEqual(self.stats()["unseen"], [])

    def test_slots_claimed_in_the_name_of_the_program_or_its_supervisor(self):
        for who in ("program", "supervisor"):
            with self.subTest(who=who):
                self.hostile("claim", who)


if __name__ == "__main__":
    unittest.main()
