#!/usr/bin/python3
"""A process lives until its last thread ends: if the main thread has ended, /proc shows a zombie
without mappings. Such a process still counts, and can be attached to (tests/programs/main_thread_ends.c).
"""
import glob
import os
import signal
import subprocess
import time
import unittest

import harness
from attach_test import WHY_NOT

PROGRAM = os.path.join(harness.PROGRAMS, "main_thread_ends")


def allocated_by(profile, function):
    """Bytes and allocations of all sites below it."""
    sites = [site for site in profile["sites"]
             if function in [frame["function"] for frame in site["frames"]]]
    return tuple(sum(site["total"][unit] for site in sites) for unit in ("bytes", "allocations"))


def await_zombie(pid):
    deadline = time.monotonic() + harness.TIMEOUT
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                return
        time.sleep(0.01)
    raise AssertionError("its main thread doesn't end")


class MainThreadEndsTest(harness.MemprofTest):
    def assert_child_of(self, rounds, how):
        done = harness.run([harness.MEMPROF, "run", harness.EACH, "-f", "-o", self.path("x.memprof"), "--",
                            PROGRAM, how, str(rounds)], cwd=self.directory)
        if done.returncode == 77:
            self.skipTest("not allowed here")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        path, = [path for path in glob.glob(self.path("x.*.memprof"))
                 if not path.endswith(".all.memprof")]
        child = self.sites(os.path.basename(path))
        self.assert_rows_sum_to_totals(child)
        self.assertEqual(allocated_by(child, "work"), (rounds * 1000, rounds * 10))
        self.assertEqual(allocated_by(child, "late"), (64 * 4006, 64 * 4))
        self.assertIn((child["end"]["kind"], child["end"].get("code", 3)),
                      (("exit", 3), ("ended", 3), ("ended", 0)))

    def test_a_forked_child_counts_on_in_its_slot(self):
        self.assert_child_of(60, "forked")

    def test_one_in_a_namespace_of_its_own_does_too(self):
        self.assert_child_of(60, "namespace")

    def program_of(self, run):
        """The pid of what this memprof run runs, once it does."""
        deadline = time.monotonic() + harness.TIMEOUT
        while time.monotonic() < deadline:
            with open(f"/proc/{run}/task/{run}/children") as children:
                found = children.read().split()
            for pid in found:
                try:
                    with open(f"/proc/{pid}/comm") as name:
                        if name.read().strip() == "main_thread_ends"[:15]:
                            return int(pid)
                except OSError:
                    pass  # it has ended
            time.sleep(0.01)
        return self.fail("the program did not start")

    def test_a_region_in_which_it_counts_is_not_finalized(self):
        process = subprocess.Popen([harness.MEMPROF, "run", "-q", "--region", self.path("x.region"), "-o",
                                    self.path("x.memprof"), "--", PROGRAM, "itself", "2000"],
                                   cwd=self.directory, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        pid = self.program_of(process.pid)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        await_zombie(pid)
        self.assertEqual(self.sites("x.region")["end"]["kind"], "running")
        refused = harness.run([harness.MEMPROF, "finalize", self.path("x.region")])
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn(f"process {pid} still counts in it", refused.stderr.decode())

    def start(self, rounds, after_ms=0):
        process = subprocess.Popen([PROGRAM, "itself", str(rounds), str(after_ms)],
                                   stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def attach(self, pid, *flags):
        return harness.run([harness.MEMPROF, "attach", str(pid), "-f", "-o", self.path("x.memprof"), *flags],
                           cwd=self.directory)

    def assert_attached(self, attached):
        self.assertEqual(attached.returncode, 0, attached.stderr.decode())
        self.assertIn("detached from", attached.stderr.decode())
        bytes_, allocations = allocated_by(self.sites(), "work")
        self.assertGreater(allocations, 0)
        self.assertEqual(bytes_, 100 * allocations)

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_memprof_attaches_to_it_and_detaches(self):
        process = self.start(400)
        await_zombie(process.pid)
        self.assert_attached(self.attach(process.pid, "--duration", "1"))
        self.assertEqual(process.wait(harness.TIMEOUT), 3)

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_memprof_detaches_when_the_main_thread_ended_meanwhile(self):
        process = self.start(600, after_ms=1500)
        self.assert_attached(self.attach(process.pid, "--duration", "3"))
        await_zombie(process.pid)
        self.assertEqual(process.wait(harness.TIMEOUT), 3)

    def test_one_that_has_ended_altogether_is_said_to_have(self):
        process = self.start(1)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        attached = self.attach(process.pid)
        self.assertEqual(attached.returncode, 125)
        self.assertIn(f"process {process.pid} has ended; its parent has not looked yet",
                      attached.stderr.decode())


if __name__ == "__main__":
    unittest.main()
