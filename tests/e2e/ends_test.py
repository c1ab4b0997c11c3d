#!/usr/bin/python3
"""However the program or the supervisor ends, there is a whole capture."""
import os
import re
import signal
import subprocess
import time
import unittest

import harness
from thread_books import read_books

UNTIL_KILLED = os.path.join(harness.PROGRAMS, "until_killed")


class EndsTest(harness.MemprofTest):
    def start(self, *flags, threads=4):
        """until_killed under memprof; returns (supervisor, pid of the program)."""
        if os.path.exists(self.path("book")):
            os.remove(self.path("book"))
        supervisor = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--",
             UNTIL_KILLED, self.path("book"), str(threads)],
            cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        self.addCleanup(self.end, supervisor)
        deadline = time.monotonic() + harness.TIMEOUT
        while time.monotonic() < deadline:
            books = self.books(threads)
            if books and all(book[2] > 1000 for book in books):
                break
            time.sleep(0.02)
        else:
            self.fail("the program did not start")
        pid = int(self.children(supervisor.pid)[0])
        self.addCleanup(self.kill, pid)  # however the test ends, the program does too
        return supervisor, pid

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    def end(self, supervisor):
        if supervisor.poll() is None:
            for pid in self.children(supervisor.pid):
                self.kill(int(pid))
            supervisor.kill()
        supervisor.wait()
        supervisor.stderr.close()

    def books(self, threads):
        return read_books(self.path("book"), threads)

    def check_against_books(self, profile, threads):
        books = self.books(threads)
        live = sum(s["leaked"]["bytes"] for s in profile["sites"]
                   if any(f["function"] == "churn" for f in s["frames"]))
        # One event a thread may be in flight, in our count or in the book; each is at most 1000.
        self.assertLessEqual(abs(live - sum(book[0] for book in books)), 2 * 1000 * threads)
        self.assert_rows_sum_to_totals(profile)

    def test_sigkill_of_the_program_leaves_what_was_live(self):
        for attempt in range(5):
            with self.subTest(attempt=attempt):
                supervisor, pid = self.start()
                time.sleep(0.01 * attempt)
                os.kill(pid, signal.SIGKILL)
                self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + signal.SIGKILL)
                profile = self.sites()
                self.assertEqual(profile["end"], {"kind": "signal", "code": 9})
                self.check_against_books(profile, 4)
                self.assertLessEqual(profile["tracker"]["peak_bound_bytes"], 2 * 1000 * 4)

    def test_sigterm_to_memprof_ends_the_program(self):
        supervisor, pid = self.start()
        supervisor.send_signal(signal.SIGTERM)
        self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + signal.SIGTERM)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.check_against_books(self.sites(), 4)

    def test_sigkill_of_memprof_loses_at_most_a_checkpoint(self):
        supervisor, pid = self.start("--checkpoint", "1")
        deadline = time.monotonic() + harness.TIMEOUT
        while not os.path.exists(self.path("x.memprof")) and time.monotonic() < deadline:
            time.sleep(0.05)
        supervisor.kill()
        supervisor.wait()
        profile = self.sites()
        self.assertEqual(profile["end"]["kind"], "cut")
        self.assertGreater(profile["total"]["allocations"], 1000)
        os.kill(pid, 0)  # the program goes on

    def killed_run(self, *flags, last="x.memprof"):
        """A run whose supervisor and program are killed once a checkpoint has written `last`."""
        supervisor, pid = self.start(*flags)
        began = time.monotonic()
        while not os.path.exists(self.path(last)) and time.monotonic() < began + 20:
            time.sleep(0.02)
        waited = time.monotonic() - began
        supervisor.kill()
        supervisor.wait()
        self.kill(pid)
        return waited

    def test_a_killed_job_leaves_its_own_capture_marked_in_every_report(self):
        old = self.path("x.memprof")
        for name in ("x.memprof", "x.all.memprof", "x.exec1.memprof", "x.exec2.memprof"):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write("MEMPROFC of an earlier run")
        supervisor, pid = self.start("--checkpoint", "0")
        self.assertEqual([n for n in os.listdir(self.directory) if n.endswith(".memprof")], [])
        supervisor.kill()
        supervisor.wait()
        self.kill(pid)
        # One checkpoint each 30 s; the metrics are written after the capture.
        waited = self.killed_run("--metrics", self.path("x.prom"), last="x.prom")
        self.assertLess(waited, 10)
        self.assertEqual(self.sites()["end"]["kind"], "cut")
        cut = "last checkpoint"
        for report in (["summary"], ["stats"], ["table"], ["tree"], ["growth"]):
            self.assertIn(cut, " ".join(self.memprof(*report, old).split()), report)
        self.memprof("merge", "-o", self.path("merged.memprof"), old)
        for name in ("merged.memprof", "x.memprof"):
            text = " ".join(self.memprof("diff", old, self.path(name)).split())
            self.assertIn("checkpoint", text, name)
        with open(self.path("x.prom"), encoding="ascii") as file:
            text = file.read()
        written = float(re.search(r"^memprof_written_timestamp_seconds\S* (\S+)$", text, re.M)[1])
        self.assertLess(abs(time.time() - written), 60)
        with open(self.path("b.toml"), "w", encoding="ascii") as file:
            file.write('[budget]\npeak = "1 TiB"\n')
        for name in ("x.memprof", "merged.memprof"):
            check = ["check", self.path(name), "--budget", self.path("b.toml")]
            self.memprof(*check, status=3)
            self.assertIn("checkpoint", " ".join(self.memprof(*check, "--allow-cut").split()))
        self.memprof("check", old, "--budget", self.path("b.toml"), "--allow-cut", "--baseline", old,
                     status=3)

    def test_a_timeout_ends_the_program_and_its_children(self):
        for trap, kind in (("", 15), ("trap '' TERM; ", 9)):
            with self.subTest(trap=trap):
                began = time.monotonic()
                done = self.profile(
                    ["sh", "-c", f"{trap}(while :; do sleep 0.1; done) & while :; do sleep 0.1; done"],
                    flags=["--timeout", "700ms"])
                self.assertEqual(done.returncode, 124, done.stderr)
                last = done.stderr.decode().splitlines()[-1]
                self.assertTrue(last.startswith("memprof: --timeout ended the program"), last)
                self.assertEqual(self.sites()["end"], {"kind": "signal", "code": kind})
                self.assertGreater(time.monotonic() - began, 0.7 if kind == 15 else 10)
                self.assertTrue(os.path.exists(self.path("x.all.memprof")))  # no child lives on

    def test_what_a_program_does_before_its_timeout_counts(self):
        done = self.profile(["sh", "-c", "exit 3"], flags=["--timeout", "1h"])
        self.assertEqual(done.returncode, 3)
        with open(self.path("b.toml"), "w", encoding="ascii") as file:
            file.write('[budget]\npeak = "1 TiB"\n')
        done = self.profile(["sleep", "30"], flags=["--timeout", "0.5", "--budget",
                                                   self.path("b.toml"), "--exit-status=budget"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_sigkill_of_both_loses_nothing_with_a_region_file(self):
        supervisor, pid = self.start("--region", self.path("x.region"))
        supervisor.send_signal(signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)
        supervisor.kill()
        supervisor.wait()
        deadline = time.monotonic() + harness.TIMEOUT
        while os.path.exists(f"/proc/{pid}/maps") and time.monotonic() < deadline:
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                    if file.read().split()[2] in "ZX":
                        break
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.02)
        self.check_against_books(self.sites("x.region"), 4)
        self.assertIn("churn", self.memprof("summary", self.path("x.region")))

    def test_an_out_of_memory_kill_leaves_a_capture(self):
        group = self.memory_group(64 << 20)
        if group is None:
            self.skipTest("no memory cgroup can be made here")
        command = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", UNTIL_KILLED,
                   self.path("book"), "1", str(1 << 30)]
        done = self.profile(command)
        self.assertEqual(done.returncode, 137, done.stderr)
        profile = self.sites()
        grown = sum(s["leaked"]["bytes"] for s in profile["sites"]
                    if any(f["function"] == "grow" for f in s["frames"]))
        self.assertGreater(grown, 20 << 20)
        self.assertLessEqual(abs(grown - self.books(1)[0][0]), 2 * 10000)

    def memory_group(self, limit):
        for root, limit_file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                                 ("/sys/fs/cgroup", "memory.max")):
            group = os.path.join(root, f"memprof-test-{os.getpid()}")
            try:
                os.mkdir(group)
            except OSError:
                continue
            self.addCleanup(self.remove_group, group)
            try:
                with open(os.path.join(group, limit_file), "w", encoding="ascii") as file:
                    file.write(str(limit))
                return group
            except OSError:
                continue
        return None

    def remove_group(self, group):
        for _ in range(50):
            try:
                os.rmdir(group)
                return
            except OSError:
                time.sleep(0.1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
