#!/usr/bin/python3
"""memprof list and memprof top: a program that runs, seen from outside."""
import json
import os
import signal
import subprocess
import time
import unittest

import harness
import live_runs


class LiveTest(live_runs.LiveRuns):
    def look(self, *arguments):
        return json.loads(self.memprof("top", "--once", "--json", "-d", "0.3", self.path("x.memprof"),
                                       *arguments))

    def test_a_run_is_listed_while_it_is_alive(self):
        run = self.start()
        mine = [each for each in self.list() if each["supervisor"] == run.pid]
        self.assertEqual(len(mine), 1)
        self.assertEqual(mine[0]["program"], "service")
        self.assertEqual(mine[0]["live_bytes"], 5050000)
        self.assertIn(self.path("x.memprof"), self.memprof("list", env={**os.environ, "COLUMNS": "200"}))
        os.kill(mine[0]["pid"], signal.SIGTERM)
        run.wait(live_runs.WAIT)
        self.assertEqual([each for each in self.list() if each["supervisor"] == run.pid], [])

    def test_a_look_has_the_programs_own_figures_by_function_and_line(self):
        self.start()
        look = self.look()
        self.assertFalse(look["ended"])
        self.assertEqual(look["live"], {"bytes": 5050000, "allocations": 51})
        rows = {row["name"]: row for row in look["rows"]}
        self.assertEqual(rows["grow"]["live"], {"bytes": 50000, "allocations": 50})
        self.assertEqual(rows["grow"]["place"], "service.c:8")
        self.assertEqual(rows["grow"]["change_bytes"], 0)
        self.assertEqual(rows["churn"]["live"]["bytes"], 0)
        self.assertGreater(rows["churn"]["allocations_per_second"], 100)
        self.assertEqual(sum(row["live"]["bytes"] for row in look["rows"]), 5050000)
        inclusive = {row["name"]: row for row in self.look("--inclusive", "--by", "function")["rows"]}
        self.assertEqual(inclusive["main"]["live"]["bytes"], 5050000)

    def test_a_tree_is_summed_and_its_processes_are_shown_apart(self):
        self.start("fork")
        end = time.monotonic() + live_runs.WAIT
        # What the child inherited is its parent's.
        while (look := self.look("--by", "process"))["live"]["bytes"] != 5100000:
            self.assertLess(time.monotonic(), end, look)
        self.assertEqual(look["processes"], 2)
        self.assertEqual(len(look["rows"]), 2)
        pid = int(look["rows"][1]["name"].split()[1])
        self.assertEqual(self.look("--process", str(pid))["live"]["bytes"],
                         look["rows"][1]["live"]["bytes"])

    def test_text_fits_80_columns_and_says_what_there_is(self):
        self.start()
        text = self.memprof("top", "--once", "-d", "0.2", self.path("x.memprof"),
                            env={**os.environ, "COLUMNS": "80"})
        lines = text.splitlines()
        self.assertIn("heap 4.8 MiB", lines[0])
        self.assertTrue(all(len(line) <= 80 for line in lines[1:]), text)
        self.assertIn("total", lines[-1])

    def test_lines_of_json_go_on_until_the_end(self):
        run = self.start()
        viewer = subprocess.Popen([harness.MEMPROF, "top", "--json", "-d", "0.2", str(run.pid)],
                                  stdout=subprocess.PIPE)
        self.addCleanup(viewer.kill)
        self.assertFalse(json.loads(viewer.stdout.readline())["ended"])
        run.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in viewer.communicate(timeout=live_runs.WAIT)[0].splitlines()]
        self.assertEqual(viewer.returncode, 0)
        self.assertTrue(rest[-1]["ended"])
        self.assertEqual(rest[-1]["live"], {"bytes": 5050000, "allocations": 51})

    def test_runs_that_are_stopped_hold_up_nobody(self):
        runs = [self.start(name=f"{i}.memprof") for i in range(5)]
        for run in runs[1:]:
            run.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        done = harness.run([harness.MEMPROF, "list", "--json"])
        took = time.monotonic() - begin
        listed = [run["supervisor"] for run in json.loads(done.stdout)["runs"]]
        self.assertIn(runs[0].pid, listed)
        self.assertFalse(set(listed) & {run.pid for run in runs[1:]})
        self.assertRegex(done.stderr.decode(), r"memprof: \d+ more runs are alive and do not answer")
        self.assertLess(took, 2)  # a second each, one after another, would be four

    def test_without_a_pid_several_runs_are_shown_to_choose_from(self):
        runs = [self.start(name=f"{i}.memprof") for i in range(2)]
        done = harness.run([harness.MEMPROF, "top", "--once"], env={**os.environ, "COLUMNS": "200"})
        self.assertEqual(done.returncode, 2)
        text = done.stderr.decode()
        self.assertIn("runs are alive; give a pid", text)
        for run in runs:
            self.assertIn(self.path(f"{runs.index(run)}.memprof"), text)

    def test_what_is_no_run_is_said(self):
        for target, why in ((self.path("no.memprof"), "no memprof run of this user is writing it"),
                            (str(os.getpid()), "is not run by memprof"), ("0", "0 is no pid")):
            done = harness.run([harness.MEMPROF, "top", "--once", target])
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr.decode())
        self.assertIn("one of place, function",
                      harness.run([harness.MEMPROF, "top", "--by", "x"]).stderr.decode())

    def test_ten_viewers_change_nothing_for_the_program(self):
        run = self.start()
        viewers = [subprocess.Popen([harness.MEMPROF, "top", "--json", "-d", "0.1", str(run.pid)],
                                    stdout=subprocess.DEVNULL) for _ in range(10)]
        for viewer in viewers:
            self.addCleanup(viewer.wait)
            self.addCleanup(viewer.kill)
        time.sleep(1)
        viewers[0].kill()
        self.assertEqual(self.look()["live"]["bytes"], 5050000)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(live_runs.WAIT), 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
