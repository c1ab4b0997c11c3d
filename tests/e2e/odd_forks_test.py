#!/usr/bin/env python3
"""memprof run with children in odd states (tests/programs/odd_forks.c): none is disturbed, each has its
own figures or is named.
"""
import glob
import os
import shutil
import socket
import struct
import subprocess
import time
import unittest

import harness

ODD = os.path.join(harness.PROGRAMS, "odd_forks")


class OddForksTest(harness.MemprofTest):
    NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

    def odd(self, *arguments, flags=()):
        """What run says."""
        done = harness.run([harness.MEMPROF, "run", harness.EACH, "-f", "-o", self.path("x.memprof"), *flags, "--",
                            ODD, *map(str, arguments)], cwd=self.directory)
        if done.returncode == 77:
            self.skipTest("not allowed here")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stderr.decode()

    def children(self):
        found = [self.sites(os.path.basename(path)) for path in glob.glob(self.path("x.*.memprof"))
                 if not path.endswith(".all.memprof")]
        for profile in found:
            self.assert_rows_sum_to_totals(profile)
        return found

    def totals(self):
        return sorted((p["total"]["bytes"], p["total"]["allocations"]) for p in self.children())

    def test_a_child_that_can_split_no_mapping_runs_and_is_said_to_be_uncounted(self):
        said = self.odd("maps-full")
        self.assertEqual(self.children(), [])
        self.assertIn("1 child process could not be followed", said)

    def test_a_child_that_allocates_on_other_threads_alone_is_profiled(self):
        self.odd("thread-first", "fork", 1)
        self.assertEqual(self.totals(), [(5000, 10)])

    def test_threads_that_begin_a_child_s_counting_at_once_lose_nothing(self):
        self.odd("thread-first", "fork", 4)
        child, = self.children()
        self.assertEqual((child["total"]["bytes"], child["tracker"]["dropped_events"]), (20000, 0))

    def test_a_parent_s_own_memory_does_not_grow_by_its_children(self):
        tracker_bytes = []
        # Not 1: a run of some milliseconds has not touched each page that a run touches once.
        for children in (50, 400):
            self.odd("many", children)
            tracker_bytes.append(self.sites()["tracker"]["bytes"])
        # A page more or less is first touched when the clock says so.
        self.assertAlmostEqual(tracker_bytes[0], tracker_bytes[1], delta=4096)

    def test_a_fork_by_a_signal_handler_within_an_event_books_it_once(self):
        done = harness.run([harness.MEMPROF, "run", harness.EACH, "-f", "-o", self.path("x.memprof"), "--",
                            ODD, "interrupted-events"], cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        blocks = int(done.stdout.split()[0])
        self.assertGreater(blocks, 100)
        parent = self.sites()
        self.assert_rows_sum_to_totals(parent)
        self.assertEqual((parent["total"]["allocations"], parent["total"]["bytes"]),
                         (blocks, 100 * blocks))
        self.assertEqual((parent["leaked"]["bytes"], parent["tracker"]["dropped_events"]), (0, 0))

    def test_an_event_that_may_be_booked_twice_is_no_exact_one(self):
        # The child gets no memory for what it would keep apart.
        self.odd("interrupted-events", 1)
        parent = self.sites()
        self.assertGreater(parent["tracker"]["dropped_events"], 0)
        self.assertNotIn("every event was counted", self.memprof("summary", self.path("x.memprof")))

    def test_a_child_whose_parent_is_gone_counts_as_that_did(self):
        self.odd("orphan", flags=["--sample", "1"])
        orphan, = [p for p in self.children() if p["leaked"]["bytes"] == 5000]
        self.assertEqual(orphan["tracker"]["sample_bytes"], 1)
        self.assertEqual(orphan["peak"]["bytes"], 6000)  # with the parent's 1000
        self.assertEqual(orphan["mappings"]["total"]["bytes"], 1 << 20)

    def in_namespaces(self, depth):
        for _ in range(2):
            self.odd("namespaces", depth, 16, 1000)
            self.assertEqual(self.totals(), [(100000, 1000)] * 48)
            everything = self.sites("x.all.memprof")
            self.assertEqual(everything["total"]["allocations"], 48000)
            self.assertEqual(everything["tracker"]["dropped_events"], 0)
            for path in glob.glob(self.path("x*.memprof")):
                os.unlink(path)

    def test_workers_of_a_namespace_whose_first_process_allocates_nothing(self):
        self.in_namespaces(1)

    def test_workers_two_namespaces_down(self):
        self.in_namespaces(2)

    def test_workers_in_a_user_s_own_namespaces(self):
        os.chmod(self.directory, 0o777)
        inside = ["unshare", "-Urpf", "--mount-proc"]
        for user in ([], list(self.NOBODY)) if os.geteuid() == 0 else ([],):
            for deep in (inside, inside * 2):
                if harness.run([*user, *deep, "true"]).returncode != 0:
                    self.skipTest("no namespaces here")
                with self.subTest(user=user, deep=len(deep)):
                    done = harness.run([*user, harness.MEMPROF, "run", harness.EACH, "-f", "-o",
                                        self.path("x.memprof"), "--", *deep, ODD, "workers", "8", "300"],
                                       cwd=self.directory)
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    self.assertEqual([t for t in self.totals() if t == (30000, 300)],
                                     [(30000, 300)] * 24)
                    for path in glob.glob(self.path("x*.memprof")):
                        os.unlink(path)

    # --- processes that give up root, and execute something

    def below_root(self, *command, flags=()):
        """What run says of a command of root's."""
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("for root, with setpriv")
        # Others must be able to read what they run.
        if os.stat(harness.BUILD).st_mode & 0o5 != 0o5:
            self.skipTest("the build is not readable")
        done = harness.run([harness.MEMPROF, "run", harness.EACH, "-f", "-o", self.path("x.memprof"), *flags, "--",
                            *map(str, command)], cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stderr.decode()

    def test_a_child_of_more_generations_than_are_kept_is_not_called_exact(self):
        source, program = self.path("chain.c"), self.path("chain")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
                       "static void* volatile blocks[100]; static void* volatile kept;\n"
                       "int main(int argc, char** argv) {\n"
                       "  for (int i = 0; i < 100; ++i) blocks[i] = malloc(1000);\n"
                       "  for (int depth = atoi(argv[1]); depth > 0; --depth) {\n"
                       "    if (fork() != 0) { wait(NULL); _exit(0); }\n"
                       "    kept = malloc(10);\n  }\n"
                       "  for (int i = 0; i < 50; ++i) free(blocks[i]);\n"
                       "  for (int i = 50; i < 100; ++i) blocks[i] = realloc(blocks[i], 2000);\n"
                       "  malloc(31);\n  _exit(3);\n}\n")
        subprocess.run(["gcc", "-O0", "-w", "-o", program, source], check=True)
        for depth, dropped in ((10, 0), (20, 100)):
            with self.subTest(depth=depth):
                self.assertEqual(self.profile([program, str(depth)], [harness.EACH]).returncode, 0)
                last, = [name for name in glob.glob(self.path("x.[0-9]*.memprof"))
                         if self.sites(name)["total"]["allocations"] > 1]
                profile = self.sites(last)
                self.assertEqual(profile["tracker"]["dropped_events"], dropped)
                self.assertEqual("every event was counted" in self.memprof("summary", last), dropped == 0)
                for name in glob.glob(self.path("x*.memprof")):
                    os.remove(name)

    def test_a_program_that_gives_up_root_and_executes_is_profiled(self):
        self.below_root(*self.NOBODY, ODD, "workers", 4, 100)
        self.assertTrue(self.sites()["command"][0].endswith("odd_forks"))
        self.assertEqual([t for t in self.totals() if t == (10000, 100)], [(10000, 100)] * 12)

    def test_a_grandchild_that_gives_up_root_and_executes_is_profiled(self):
        command = " ".join([*self.NOBODY, ODD, "workers", "4", "100"])
        self.below_root("sh", "-c", f"{command}; true")
        self.assertEqual([t for t in self.totals() if t == (10000, 100)], [(10000, 100)] * 12)

    def test_what_was_executed_where_no_tracker_can_come_is_named(self):
        # Another user can't pass through the directory of what it is to preload.
        for seconds in ("1", "2.5"):
            with self.subTest(seconds=seconds):
                said = self.below_root("sh", "-c", f"env -u MEMPROF_SOCKET sleep {seconds}; true")
                self.assertIn("1 child process ran without a tracker", said)
                self.assertIn("sleep", said)

    @staticmethod
    def socket_of(supervisor):
        """Where the program that it has started is told to connect to; None: it has started none yet."""
        with open(f"/proc/{supervisor}/task/{supervisor}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/environ", "rb") as file:
                variables = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
            if b"MEMPROF_SOCKET" in variables:
                return variables[b"MEMPROF_SOCKET"]
        return None

    def test_a_stranger_is_not_let_in(self):
        if os.geteuid() != 0:
            self.skipTest("for root")
        with subprocess.Popen([harness.MEMPROF, "run", harness.EACH, "-q", "-f", "-o", self.path("x.memprof"), "--",
                               ODD, "workers", "1", "20000"]) as running:
            deadline = time.monotonic() + 20
            while not (path := self.socket_of(running.pid)):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            pid = os.fork()
            if pid == 0:
                os.setuid(65534)
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as visitor:
                    visitor.settimeout(20)
                    visitor.connect(path)
                    try:
                        visitor.send(struct.pack("II", 2, os.getpid()))
                        answer = visitor.recv(100)
                    except OSError:
                        answer = b""
                os._exit(0 if answer == b"" else 1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            running.terminate()


if __name__ == "__main__":
    unittest.main()
