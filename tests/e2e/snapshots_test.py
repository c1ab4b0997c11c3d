#!/usr/bin/python3
"""Named snapshots of a running program, and its metrics."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import harness

HELD = {"first_step": (10000, 10), "second_step": (15000, 5), "third_step": (100000, 1)}

PROMTOOL = shutil.which("promtool", path=os.pathsep.join(
    [os.environ["PATH"], os.path.join(harness.BUILD, os.pardir, "tools", "usr", "bin")]))


class SnapshotsTest(harness.MemprofTest):
    def start(self, *flags):
        """grows_in_steps under memprof, with its tracker connected."""
        self.run_ = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--",
             os.path.join(harness.PROGRAMS, "grows_in_steps")],
            cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end)
        return self.run_

    def end(self):
        if not self.run_.stdin.closed:
            self.run_.stdin.close()  # the program ends with its input
            self.assertEqual(self.run_.wait(harness.TIMEOUT), 0)
            self.run_.stdout.close()

    def step(self):
        self.run_.stdin.write(b"x")
        self.run_.stdin.flush()
        self.assertEqual(self.run_.stdout.read(1), b"x")

    def program(self):
        """The pid of what memprof runs."""
        with open(f"/proc/{self.run_.pid}/task/{self.run_.pid}/children",
                  encoding="ascii") as children:
            return int(children.read().split()[0])

    def snapshot(self, target, *arguments, **options):
        return self.memprof("snapshot", str(target), *arguments, **options)

    def live(self, capture):
        """(bytes, allocations) of each step's site at the peak of what is shown."""
        profile = json.loads(self.memprof("transform", "json", self.path(capture)))
        self.assert_rows_sum_to_totals(profile)
        live = {name: (0, 0) for name in HELD}
        for site in profile["sites"]:
            for name in HELD:
                if any(frame["function"] == name for frame in site["frames"]):
                    live[name] = (live[name][0] + site["peak"]["bytes"],
                                  live[name][1] + site["peak"]["allocations"])
        return {name: figures for name, figures in live.items() if figures != (0, 0)}

    def wait_for(self, what, condition):
        deadline = time.monotonic() + harness.TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)

    def test_each_has_what_was_live_when_it_was_asked_for(self):
        self.start()
        self.step()
        said = self.snapshot(self.program(), "--name", "one")
        self.assertIn("snapshot 'one' at", said)
        # It is in the capture as soon as the command is done, while the program runs.
        self.assertEqual(self.live("x.memprof@one"), {"first_step": HELD["first_step"]})
        self.step()
        self.snapshot(self.run_.pid, "--name", "two")
        self.step()
        self.snapshot(self.path("x.memprof"), "--name", "three")
        self.snapshot("x.memprof", "--name", "three")
        self.step()
        self.end()
        self.assertEqual(self.live("x.memprof@one"), {"first_step": HELD["first_step"]})
        self.assertEqual(self.live("x.memprof@two"),
                         {name: HELD[name] for name in ("first_step", "second_step")})
        self.assertEqual(self.live("x.memprof@three"), {"second_step": HELD["second_step"]})
        self.assertEqual(self.live("x.memprof@three.2"), {"second_step": HELD["second_step"]})

        summary = self.memprof("summary", self.path("x.memprof"))
        self.assertRegex(summary, r"(?s)named.* one \(.*two \(.*three\.2 \(")
        self.assertIn("named snapshots: ms name", self.memprof("parse", self.path("x.memprof")))
        self.assertIn("Live at the snapshot 'two'",
                      self.memprof("summary", self.path("x.memprof@two")))
        wrong = harness.run([harness.MEMPROF, "summary", self.path("x.memprof@four")])
        self.assertEqual(wrong.returncode, 2)
        self.assertIn(b"there are: one, two, three, three.2;", wrong.stderr)

        # Between two of one capture, in every form.
        names = (self.path("x.memprof@one"), self.path("x.memprof@three"))
        text = self.memprof("diff", *names)
        self.assertRegex(text, r"first_step")
        self.assertRegex(text, r"second_step")
        # The runs' totals are left out, which aren't the moments'.
        self.assertRegex(text, r"(?m)^  live ")
        for figure in ("peak", "leaked", "total", "temporary"):
            self.assertNotRegex(text, rf"(?m)^  {figure} ")
        self.memprof("diff", "--leaks", *names, status=2)
        rows = json.loads(self.memprof("diff", "--json", "--by", "function", *names))
        changes = {row["function"]: row["peak"]["difference"]["bytes"] for row in rows["rows"]
                   if row["function"] in HELD and row["peak"]["difference"]["bytes"] != 0}
        self.assertEqual(changes, {"first_step": -10000, "second_step": 15000})
        self.assertEqual(sum(row["peak"]["difference"]["bytes"] for row in rows["rows"]),
                         rows["difference"]["peak"]["bytes"])
        self.assertEqual(list(rows["difference"]), ["peak"])
        self.assertIn("second_step", self.memprof("diff", "--csv", *names))
        self.memprof("diff", "-o", self.path("diff.html"), *names)
        with open(self.path("diff.html"), encoding="utf-8") as page:
            self.assertIn("second_step", page.read())

    def other_run(self, name, capture):
        """A second run in a directory of its own, its capture named as one does from there."""
        directory = self.path(name)
        os.mkdir(directory)
        run = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-f", "-o", capture, "--",
             os.path.join(harness.PROGRAMS, "grows_in_steps")],
            cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def end():
            os.kill(run.pid, signal.SIGCONT)
            run.stdin.close()
            self.assertEqual(run.wait(harness.TIMEOUT), 0)
            run.stdout.close()
        self.addCleanup(end)
        run.stdin.write(b"x")
        run.stdin.flush()
        self.assertEqual(run.stdout.read(1), b"x")
        return run, directory

    def test_a_relative_capture_is_its_own_runs_before_and_after_it_is_there(self):
        run, there = self.other_run("there", "x.memprof")
        _, elsewhere = self.other_run("elsewhere", "./x.memprof")
        os.symlink(there, self.path("link"))
        for name, directory, target in (("one", there, "x.memprof"), ("two", there, "./x.memprof"),
                                        ("three", elsewhere, "x.memprof"),
                                        ("four", self.directory, "link/x.memprof")):
            done = harness.run([harness.MEMPROF, "snapshot", target, "--name", name],
                               cwd=directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            own = elsewhere if name == "three" else there
            self.assertIn(os.path.join(os.path.realpath(own), f"x.memprof@{name}"),
                          done.stdout.decode())
        self.assertIsNone(run.poll())

    def test_a_stopped_run_is_told_from_none_and_holds_up_no_other(self):
        stopped, _ = self.other_run("stopped", "x.memprof")
        os.kill(stopped.pid, signal.SIGSTOP)
        self.start()
        self.step()
        self.snapshot(self.run_.pid, "--name", "one", timeout=harness.TIMEOUT / 4)
        done = harness.run([harness.MEMPROF, "snapshot", str(stopped.pid)])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"did not answer", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_files_that_would_be_one_are_refused_before_the_start(self):
        os.mkdir(self.path("d"))
        os.symlink(self.directory, self.path("link"))
        for flags in (("--metrics", "./x.memprof"), ("--metrics", "link/x.memprof"),
                      ("--region", "d/../x.memprof"),
                      ("--region", "r", "--metrics", self.path("r"))):
            done = self.profile(["touch", "started"], flags)
            self.assertEqual(done.returncode, 125, flags)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        done = self.profile(["touch", "started"], ("--snapshot-files", "nowhere/%s.memprof"))
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"nowhere can't be used", done.stderr)
        self.assertFalse(os.path.exists(self.path("started")))

    def test_a_signal_takes_one_and_does_not_reach_the_program(self):
        self.start("--snapshot-on", "USR1", "--checkpoint", "1")
        self.step()
        os.kill(self.run_.pid, signal.SIGUSR1)  # would end the program
        # Taken while the program stands still.
        self.wait_for("no snapshot", lambda: os.path.exists(self.path("x.memprof")) and
                      "named snapshots" in self.memprof("parse", self.path("x.memprof")))
        self.step()
        self.end()
        profile = self.memprof("parse", self.path("x.memprof"))
        self.assertRegex(profile, r"named snapshots: ms name \(0 left out\)\n +0 \d+ \S+\n")

    def test_a_schedule_and_a_limit_take_them(self):
        self.start("--snapshot-every", "1s", "--snapshot-at-rss", "1K", "--checkpoint", "1")
        self.step()

        def names():
            if not os.path.exists(self.path("x.memprof")):
                return []
            parsed = self.memprof("parse", self.path("x.memprof")).split("live at them")[0]
            return re.findall(r"^ +\d+ \d+ (\d+s|rss-1K)\b", parsed, re.M)
        before = len(names())  # some, if this machine is slow
        self.wait_for("no snapshots", lambda: len(names()) >= before + 2 and "rss-1K" in names())
        self.end()
        last = [name for name in names() if name != "rss-1K"][-1]
        self.assertEqual(self.live(f"x.memprof@{last}"), {"first_step": HELD["first_step"]})
        self.assertIn(f"the snapshot '{last}'",
                      self.memprof("summary", self.path(f"x.memprof@{last}")))
        self.assertEqual(names().count("rss-1K"), 1)

    def test_they_go_to_files_where_that_is_asked_for(self):
        self.start("--snapshot-files", "snap-%s.memprof", "--checkpoint", "0")
        self.step()
        said = self.snapshot(self.program(), "--name", "one")
        self.assertIn("snap-one.memprof", said)
        self.assertEqual(self.live("snap-one.memprof"), {"first_step": HELD["first_step"]})
        self.assertIn("memprof summary", said)
        self.snapshot(self.program(), "--name", "two")
        again = harness.run([harness.MEMPROF, "snapshot", str(self.run_.pid), "--name", "two"])
        self.end()
        self.assertEqual(again.returncode, 0)  # -f was given
        self.assertNotIn("named snapshots", self.memprof("parse", self.path("x.memprof")))

    def test_they_overwrite_no_file_that_somebody_keeps(self):
        with open(self.path("notes.txt"), "w", encoding="utf-8") as file:
            file.write("precious")
        self.start("--snapshot-files", "%s", "--checkpoint", "0")
        self.step()
        for name, why in (("notes.txt", b"is no capture"), ("x.memprof", b"of the run itself"),
                          ("x.all.memprof", b"of the run itself")):
            done = harness.run([harness.MEMPROF, "snapshot", str(self.run_.pid), "--name", name])
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(why, done.stderr)
        self.end()
        with open(self.path("notes.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_who_can_not_be_asked_is_said_in_one_line(self):
        for target, status, why in ((str(os.getpid()), 2, b"is not run by memprof"),
                                    ("nothing.memprof", 2, b"no memprof run of this user"),
                                    ("0", 2, b"is no pid"),
                                    ("999999999", 2, b"there is no process")):
            done = harness.run([harness.MEMPROF, "snapshot", target], cwd=self.directory)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)
        for name in ("a/b", "x@y", "end", "10m", "x" * 70):
            done = harness.run([harness.MEMPROF, "snapshot", "1", "--name", name])
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)
        for flags in (("--snapshot-every", "10x"), ("--snapshot-on", "KILL"),
                      ("--snapshot-files", "x.memprof"), ("--snapshot-at-rss", "much")):
            done = self.profile(["true"], flags)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(flags[0].encode(), done.stderr)

    def test_metrics_tell_of_the_program_while_it_runs_and_after_it(self):
        self.start("--metrics", "m.prom", "--checkpoint", "1")
        self.step()

        def metrics():
            with open(self.path("m.prom"), encoding="ascii") as file:
                text = file.read()
            self.assertTrue(text.endswith("\n"))  # written whole
            return dict(re.findall(r'^(memprof_\w+)\{program="grows_in_steps",pid="\d+"\} ([\d.]+)$',
                                   text, re.M))
        self.wait_for("no metrics", lambda: os.path.exists(self.path("m.prom")) and
                      int(metrics()["memprof_heap_live_bytes"]) >= 10000)
        self.assertEqual(metrics()["memprof_running"], "1")
        self.assertGreater(int(metrics()["memprof_resident_bytes"]), 100000)
        self.assertGreater(int(metrics()["memprof_tracker_bytes"]), 0)
        self.end()
        last = metrics()
        stats = self.stats()
        self.assertEqual(last["memprof_running"], "0")
        self.assertEqual(int(last["memprof_heap_peak_bytes"]), stats["peak"]["bytes"])
        self.assertEqual(int(last["memprof_allocations_total"]), stats["total"]["allocations"])
        self.assertEqual(int(last["memprof_events_dropped_total"]), 0)
        with open(self.path("m.prom"), encoding="ascii") as file:
            for name in re.findall(r"^(\w+)\{", file.read(), re.M):
                self.assertIn(name, last)

    @unittest.skipUnless(PROMTOOL, "promtool is not there: ./dev test unpacks Debian's")
    def test_promtool_finds_nothing_wrong_with_them(self):
        self.assertEqual(self.profile(["true"], ("--metrics", self.path("m.prom"))).returncode, 0)
        with open(self.path("m.prom"), encoding="ascii") as file:
            done = subprocess.run([PROMTOOL, "check", "metrics"], stdin=file,
                                  capture_output=True, timeout=harness.TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, b"", b""))


if __name__ == "__main__":
    unittest.main()
