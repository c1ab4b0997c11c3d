#!/usr/bin/python3
"""A program with the tracker preloaded and no supervisor. It leaves a region that every command reads,
while it lives and after any end, and that finalize converts to a capture. The region says what can't be
counted, and the program behaves as if run bare.
"""
import glob
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

import harness

CAPTURE_BYTES = 100_000  # a capture is smaller, a region larger


def program(name):
    return os.path.join(harness.PROGRAMS, name)


def rows(profile):
    return sorted((str(site["frames"]), site["thread"], site["kind"],
                   *(str(site[figure]) for figure in ("peak", "leaked", "total", "temporary")))
                  for site in profile["sites"])


class NoSupervisorTest(harness.MemprofTest):
    def environment(self, *options, output="x.memprof"):
        """What memprof env says to set, as a shell takes it."""
        text = self.memprof("env", "-o", self.path(output), *options)
        names = [line.split("=")[0].removeprefix("export ") for line in text.splitlines()]
        # By the shell itself: what it executed would be profiled, too.
        values = "".join(f' "${name}"' for name in names)
        done = harness.run(["sh", "-c", f"{text}printf '%s\\0'{values}"], cwd=self.directory,
                           env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.stderr, b"")
        return dict(zip(names, done.stdout.decode().split("\0")))

    def start(self, command, *options, output="x.memprof", words=None, **more):
        environment = self.environment(*options, output=output)
        if words is not None:
            environment["MEMPROF_OPTIONS"] = words
        return subprocess.Popen(command, env=environment, cwd=self.directory,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def count(self, command, *options, status=0, **more):
        """Runs it to its end and gives its pid; it must say nothing."""
        process = self.start(command, *options, **more)
        said = process.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((process.returncode, *said), (status, b"", b""))
        return process.pid

    def files(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.path("x*.memprof")))

    def refused(self, *arguments, status=2):
        done = harness.run([harness.MEMPROF, *arguments], cwd=self.directory)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    # --- figures ---------------------------------------------------------------------------------

    def test_the_figures_are_those_of_memprof_run(self):
        for name, options in (("peak_sawtooth", ()), ("peak_of_realloc", ()), ("containers", ()),
                              ("mappings", ("--exact-peak",)), ("temporaries", ("--temporary", "4"))):
            with self.subTest(program=name):
                self.profile([program(name)], flags=options)
                of_run = self.sites()
                os.remove(self.path("x.memprof"))
                self.count([program(name)], *options)
                alone = self.sites()
                os.remove(self.path("x.memprof"))
                self.assertEqual(rows(alone), rows(of_run))
                self.assertEqual(alone["end"], of_run["end"])
                self.assertEqual(alone["program"], of_run["program"])
                self.assertEqual(alone["command"], of_run["command"])
                for figure in ("peak", "leaked", "total"):
                    self.assertEqual({u: alone[figure][u] for u in ("bytes", "allocations")},
                                     {u: of_run[figure][u] for u in ("bytes", "allocations")})
                self.assertEqual(alone["mappings"], of_run["mappings"])
                self.assert_rows_sum_to_totals(alone)

    def test_samples_are_drawn_anew_in_each_run(self):
        totals = set()
        for i in range(4):
            self.count([program("random_walk")], "--sample", "4K", output=f"x{i}.memprof")
            profile = self.sites(f"x{i}.memprof")
            self.assertEqual(profile["tracker"]["sample_bytes"], 4096)
            totals.add(profile["total"]["bytes"])
        self.assertGreater(len(totals), 1)

    # --- ends ------------------------------------------------------------------------------------

    def test_an_exit_is_known_with_its_status_and_a_kill_as_an_end(self):
        for way, status, end in (("return", 3, {"kind": "exit", "code": 3}),
                                 ("exit", 4, {"kind": "exit", "code": 4}),
                                 ("_exit", 5, {"kind": "ended", "code": 0}),
                                 ("kill", -9, {"kind": "ended", "code": 0}),
                                 ("segv", -11, {"kind": "ended", "code": 0})):
            with self.subTest(way=way):
                pid = self.count([program("exits"), way], status=status, output=f"x-{way}.memprof")
                profile = self.sites(f"x-{way}.memprof")
                self.assertEqual(profile["end"], end)
                self.assertEqual(profile["pid"], pid)
                self.assertEqual(profile["leaked"]["bytes"], 600000)
                self.assertEqual(profile["command"], [program("exits"), way])

    def alive(self, **more):
        process = self.start([program("until_killed"), self.path("book"), "1", "1000000"], **more)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + harness.TIMEOUT
        while time.monotonic() < deadline:
            try:
                if self.sites()["leaked"]["bytes"] >= 1000000:
                    return process
            except (AssertionError, ValueError):
                pass  # it isn't there yet
            time.sleep(0.02)
        return self.fail("the program did not start")

    def test_every_command_reads_it_alive_and_after_a_kill(self):
        process = self.alive()
        self.assertEqual(self.sites()["end"]["kind"], "running")
        self.assertIn("grow", self.memprof("summary", self.path("x.memprof")))
        said = self.refused("finalize", self.path("x.memprof"))
        self.assertIn(f"process {process.pid} still counts in it", said)
        self.refused("finalize", "--running", self.path("x.memprof"))
        self.memprof("finalize", "--running", self.path("x.memprof"), "-o", self.path("now.memprof"))
        now = self.sites("now.memprof")
        self.assertEqual(now["end"]["kind"], "running")
        self.assertGreaterEqual(now["leaked"]["bytes"], 1000000)
        process.kill()
        process.wait()
        before = rows(self.sites())
        self.assertEqual(self.sites()["end"]["kind"], "ended")
        for command in (["summary", "--leaks"], ["table"], ["tree"], ["stats"],
                        ["transform", "folded"], ["flamegraph", "-o", self.path("x.html")],
                        ["symbolize", "-o", self.path("named.memprof")],
                        ["budget", "init", "-o", self.path("memprof.toml")]):
            self.memprof(*command, self.path("x.memprof"))
        self.memprof("check", self.path("x.memprof"), "--budget", self.path("memprof.toml"))
        self.memprof("finalize", self.path("x.memprof"))
        self.assertEqual(rows(self.sites()), before)
        self.assertNotIn("on the disk", self.memprof("summary", self.path("x.memprof")))
        self.assertLess(os.path.getsize(self.path("x.memprof")), CAPTURE_BYTES)
        self.assertEqual(os.stat(self.path("x.memprof")).st_mode & 0o777, 0o600)
        self.memprof("finalize", self.path("x.memprof"))  # again: nothing to do

    def test_a_region_and_its_capture_are_one_run(self):
        self.count([program("exits"), "exit"], status=4)
        self.memprof("finalize", self.path("x.memprof"), "-o", self.path("y.memprof"))
        said = self.refused("merge", self.path("x.memprof"), self.path("y.memprof"), "-o",
                            self.path("z.memprof"))
        self.assertIn("y.memprof", said)
        self.refused("finalize", self.path("x.memprof"), "-o", self.path("y.memprof"))
        self.assertIn("copy it", self.refused("finalize", self.path("y.memprof"), "-o", "z"))
        self.assertIn("not a capture", self.refused("finalize", "/etc/passwd", status=3))
        self.refused("finalize", self.path("missing"), status=3)
        self.memprof("finalize", self.path("x.memprof"), "-o", self.path("y.memprof"), "-f")

    # --- descendants -----------------------------------------------------------------------------

    def test_descendants_have_their_pid_in_the_name_and_their_own_figures(self):
        pid = self.count([program("process_tree"), "fork"])
        others = [name for name in self.files() if name != "x.memprof"]
        self.assertEqual(len(others), 1)
        self.assertEqual(self.sites()["pid"], pid)
        child = self.sites(others[0])
        self.assertEqual(others[0], f"x.{child['pid']}.memprof")
        self.assertNotEqual(child["pid"], pid)
        self.assertEqual({f: (child[f]["bytes"], child[f]["allocations"])
                          for f in ("peak", "leaked", "total")},
                         {"peak": (13000, 2), "leaked": (5500, 2), "total": (10500, 3)})
        self.assertEqual(child["command"], self.sites()["command"])
        self.assertEqual(child["end"]["kind"], "ended")
        # The parent's heap is its own, and it ended by itself.
        self.assertEqual(self.sites()["end"], {"kind": "exit", "code": 0})
        self.memprof("finalize", *(self.path(name) for name in self.files()))
        self.memprof("merge", *(self.path(name) for name in self.files()), "-o",
                     self.path("all.memprof"))

    def test_what_is_executed_has_a_file_of_its_own(self):
        pid = self.count([program("exec_self")])
        self.assertEqual(self.files(), [f"x.{pid}.memprof", "x.memprof"])
        self.assertEqual(self.sites()["leaked"]["bytes"], 1000000)
        self.assertEqual(self.sites()["end"]["kind"], "ended")
        self.assertEqual(self.sites(f"x.{pid}.memprof")["leaked"]["bytes"], 2000)

    def test_a_pid_in_the_pattern_is_every_process_own(self):
        pid = self.count([program("exec_self")], output="x-%p-%n.memprof")
        self.assertEqual(self.files(), [f"x-{pid}-exec_self.2.memprof",
                                        f"x-{pid}-exec_self.memprof"])

    def test_without_descendants_there_is_one_file_and_they_are_counted(self):
        self.count([program("process_tree"), "fork"], "--no-follow-fork")
        self.assertEqual(self.files(), ["x.memprof"])
        self.assertEqual(self.sites()["tracker"]["untracked_children"], 1)
        os.remove(self.path("x.memprof"))
        self.count([program("exec_self")], "--no-follow-fork")
        self.assertEqual(self.files(), ["x.memprof"])

    def test_children_of_every_kind_do_as_they_do_bare(self):
        for how in (("clone",), ("nest", "20"), ("spawn",), ("storm", "12"), ("shut", "filter"),
                    ("shut", "forking-filter"), ("shut", "descriptors"), ("shut", "root"),
                    ("shut", "session"), ("shut", "undumpable"), ("shut", "no-proc")):
            with self.subTest(how=how):
                bare = self.bare([program("process_tree"), *how])
                process = self.start([program("process_tree"), *how])
                said = process.communicate(timeout=harness.TIMEOUT)
                self.assertEqual((process.returncode, *said),
                                 (bare.returncode, bare.stdout, bare.stderr))
                self.assert_rows_sum_to_totals(self.sites(self.files()[0]))
                for name in self.files():
                    os.remove(self.path(name))

    def test_six_hundred_children_leave_no_more_files_than_are_allowed(self):
        self.count([program("process_tree"), "bomb", "600", "8"], "--max-files", "5")
        # Eight at a time may have looked at the same moment.
        self.assertIn(len(self.files()), range(5, 5 + 8))
        self.assertGreater(self.sites()["tracker"]["untracked_children"], 500)

    def test_files_are_bounded_and_what_was_finalized_makes_room(self):
        for _ in range(4):
            self.count([program("exits"), "exit"], "--max-files", "2", status=4)
        self.assertEqual(len(self.files()), 2)
        self.memprof("finalize", *(self.path(name) for name in self.files()))
        self.count([program("exits"), "exit"], "--max-files", "2", status=4)
        self.assertEqual(len(self.files()), 3)

    # --- what was there, and what can't be -------------------------------------------------------

    def test_nothing_that_was_there_is_touched_and_no_link_followed(self):
        with open(self.path("x.memprof"), "w", encoding="ascii") as file:
            file.write("mine")
        pid = self.count([program("exits"), "exit"], status=4)
        with open(self.path("x.memprof"), encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(self.sites(f"x.{pid}.memprof")["leaked"]["bytes"], 600000)
        os.symlink(self.path("target"), self.path("y.memprof"))
        pid = self.count([program("exits"), "exit"], status=4, output="y.memprof")
        self.assertFalse(os.path.exists(self.path("target")))
        self.assertTrue(os.path.exists(self.path(f"y.{pid}.memprof")))

    def test_the_file_is_its_owners_whatever_the_umask(self):
        self.count([program("exits"), "exit"], status=4, umask=0)
        self.assertEqual(os.stat(self.path("x.memprof")).st_mode & 0o777, 0o600)

    def test_where_no_file_can_be_made_the_program_runs_as_it_does(self):
        environment = self.environment()
        for output in (self.path("missing/x.memprof"), "/proc/x.memprof", "/dev/null", "", "/", self.directory + "/",
                       "/" + "a" * 300, "/" + "a/" * 2000):
            with self.subTest(output=output[:40]):
                done = harness.run([program("exits"), "exit"], cwd=self.directory,
                                   env={**environment, "MEMPROF_OUTPUT": output})
                self.assertEqual((done.returncode, done.stdout, done.stderr), (4, b"", b""))
        self.assertEqual(os.listdir(self.directory), [])
        self.assertEqual(glob.glob("/dev/null?*"), [])

    def test_bad_options_are_told_in_the_file_and_nothing_is_counted(self):
        for words, why in (("samlpe=1K", "'samlpe=1K' takes no value, or is misspelt: drop the '=' or "
                                        "correct the name"),
                           ("exact-peak,fast", "'fast' is no option"),
                           ("temporary=65", "'temporary=65' is no number of allocations; write "
                                            "temporary=N, from 1 to 64"),
                           ("a" * 1000 + "\033", f"'{'a' * 32}' is no option")):
            with self.subTest(words=words[:40]):
                self.count([program("exits"), "exit"], status=4, words=words)
                said = self.refused("summary", self.path("x.memprof"), status=3)
                self.assertIn(f"x.memprof: nothing was counted: MEMPROF_OPTIONS: {why}\n", said)
                self.assertLessEqual(os.stat(self.path("x.memprof")).st_blocks * 512, 64 << 10)
                self.refused("finalize", self.path("x.memprof"), status=3)
                os.remove(self.path("x.memprof"))

    def test_a_limit_on_files_makes_the_region_smaller_and_is_never_exceeded(self):
        def limit(megabytes):
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (megabytes << 20,) * 2)
        self.count([program("exits"), "exit"], status=4, preexec_fn=limit(20))
        self.assertLessEqual(os.path.getsize(self.path("x.memprof")), 20 << 20)
        self.assertEqual(self.sites()["leaked"]["bytes"], 600000)
        self.count([program("exits"), "exit"], status=4, preexec_fn=limit(1), output="y.memprof")
        self.assertFalse(os.path.exists(self.path("y.memprof")))

    def disk(self, size):
        """A folder on a file system of that size."""
        path = self.path("disk")
        os.mkdir(path)
        if os.geteuid() != 0 or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=False,
                capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", path], check=False)
        return path

    def test_a_small_disk_has_a_small_region_and_a_full_one_is_told(self):
        disk = self.disk("32M")
        self.count([program("exits"), "exit"], status=4, output="disk/x.memprof")
        self.assertEqual(self.sites("disk/x.memprof")["leaked"]["bytes"], 600000)
        self.assertLessEqual(os.path.getsize(os.path.join(disk, "x.memprof")), 8 << 20)
        with open(os.path.join(disk, "rest"), "wb") as file:
            file.truncate(0)
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - (1 << 20))
        self.count([program("exits"), "exit"], status=4, output="disk/y.memprof")
        self.assertIn("there is no room for a region",
                      self.refused("summary", os.path.join(disk, "y.memprof"), status=3))
        with open(os.path.join(disk, "more"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free)
        self.count([program("exits"), "exit"], status=4, output="disk/z.memprof")
        self.assertFalse(os.path.exists(os.path.join(disk, "z.memprof")))

    def test_a_supervisor_that_is_there_has_the_word(self):
        done = harness.run([harness.MEMPROF, "run", "-q", "-o", self.path("y.memprof"), "--",
                            program("exits"), "exit"], cwd=self.directory,
                           env={**os.environ, "MEMPROF_OUTPUT": self.path("x.memprof")})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(os.listdir(self.directory), ["y.memprof"])
        self.assertEqual(self.sites("y.memprof")["end"], {"kind": "exit", "code": 4})

    # --- what is kept of the program -------------------------------------------------------------

    def test_the_command_line_is_left_out_where_that_is_asked_for(self):
        self.count([program("exits"), "exit"], "--no-command-line", status=4)
        profile = self.sites()
        self.assertEqual((profile["program"], profile["command"]), ("exits", []))
        with open(self.path("x.memprof"), "rb") as file:
            self.assertNotIn(b"MEMPROF_OUTPUT", file.read())  # the environment never

    def test_env_says_what_is_wrong_before_the_program_runs(self):
        self.assertIn("no distance between samples",
                      self.refused("env", "-o", "x", "--sample", "much"))
        self.assertIn("--temporary", self.refused("env", "-o", "x", "--sample", "1K", "--temporary", "2"))
        self.assertIn("names no file", self.refused("env", "-o", "folder/"))
        self.assertIn("is no format", self.refused("env", "-o", "x", "--format", "csh"))
        self.assertIn("-o", self.refused("env"))
        self.assertIn("not found", self.refused("env", "-o", "x", "no-such-program"))
        done = harness.run([harness.MEMPROF, "env", "-o", "/missing/x.memprof"], cwd=self.directory)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"warning: the output directory /missing can't be used", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
