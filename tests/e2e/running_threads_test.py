#!/usr/bin/python3
"""Leaks of threads that still ran when the program ended (../programs/running_threads.c): every report
names them, budgets count them, and a suppression takes them out."""
import json
import os
import unittest

import harness

PROGRAM = os.path.join(harness.PROGRAMS, "running_threads")
# The threads' figures, and those of main and of threads that have ended or took over a slot.
RUNNING = (650, 7)
OTHERS = (82, 7)  # by_all, ended, in_its_slot, mains
ALLOW = '[[budget.suppress]]\nrunning_threads = true\nreason = "by design"\n'


class RunningThreadsTest(harness.MemprofTest):
    def check(self, limits, more="", *arguments):
        with open(self.path("b.toml"), "w", encoding="utf-8") as file:
            file.write(f"[budget]\n{limits}\n{more}")
        done = harness.run([harness.MEMPROF, "check", "x.memprof", "--budget", "b.toml", *arguments],
                           cwd=self.directory)
        return done.returncode, " ".join(done.stdout.decode().split())

    def test_reports_name_them_beside_the_leaks(self):
        done = harness.run([harness.MEMPROF, "run", "-o", self.path("x.memprof"), PROGRAM, "kill"],
                           cwd=self.directory)
        text = "650 B of it in 7 blocks of threads that still ran at the end"
        self.assertIn(text, done.stderr.decode())
        self.assertIn(text, " ".join(self.memprof("summary", self.path("x.memprof")).split()))
        leaks = self.memprof("table", "--leaks", self.path("x.memprof"))
        rows = leaks.splitlines()
        for function, marked in (("living", True), ("given", True), ("by_all", False),
                                 ("ended", False), ("in_its_slot", False), ("mains", False)):
            row, = [i for i, line in enumerate(rows) if f" {function} " in line]
            self.assertEqual("all of it of threads that still ran" in rows[row + 1], marked, leaks)
        self.assertNotIn("still ran", self.memprof("table", self.path("x.memprof")))
        tree = self.memprof("tree", "--leaks", self.path("x.memprof"))
        # The outermost functions of which all is theirs: work's calls of living and of given.
        self.assertRegex(tree, r"work \[still ran\] .*\n.* living ")
        self.assertRegex(tree, r"work \[still ran\] .*\n.* given ")
        self.assertEqual(tree.count("[still ran]"), 2, tree)

    def test_blocks_of_main_are_not_theirs_after_a_vfork(self):
        self.profile([os.path.join(harness.PROGRAMS, "vforks_first")])
        self.assertEqual(self.stats()["leaked"]["bytes"], 1000)
        self.assertNotIn("still ran", self.memprof("table", "--leaks", self.path("x.memprof")))

    def test_json_has_them_in_all_and_by_row(self):
        self.profile([PROGRAM, "return"])
        stats = self.stats()
        self.assertEqual(stats["leaked_of_running_threads"],
                         {"bytes": RUNNING[0], "allocations": RUNNING[1]})
        rows = json.loads(self.memprof("table", "--json", self.path("x.memprof")))["rows"]
        told = {row["function"]: row["leaked_of_running_threads"]["bytes"] for row in rows
                if "leaked_of_running_threads" in row}
        self.assertEqual(told, {"living": 600, "given": 50})
        tree = json.loads(self.memprof("tree", "--json", "--leaks", self.path("x.memprof")))
        self.assertEqual(tree["nodes"][0]["of_running_threads"]["bytes"], RUNNING[0])

    def test_a_budget_counts_them_unless_it_allows_them(self):
        self.profile([PROGRAM, "return"])
        status, text = self.check("leaked = 0")
        self.assertEqual(status, 1)
        self.assertIn("650 B of it is of threads that still ran at the end", text)
        self.assertIn("running_threads = true", text)
        status, text = self.check("leaked = 0", ALLOW)
        self.assertEqual(status, 1, "the others are still leaks")
        self.assertNotIn("is of threads that still ran", text)
        status, text = self.check(f"leaked = {OTHERS[0]}\nleaked_allocations = {OTHERS[1]}", ALLOW)
        self.assertEqual(status, 0, text)
        self.assertIn("650 B more is suppressed", text)
        self.assertIn("7 more is suppressed", text)
        status, text = self.check(f"leaked = {OTHERS[0]}", ALLOW + 'function = "living"\n')
        self.assertEqual(status, 1, text)
        status, text = self.check("leaked = 0", "", "--format", "json")
        limit, = json.loads(text)["captures"][0]["checks"]
        self.assertEqual(limit["of_running_threads"], 650)

    def test_a_merge_sums_them(self):
        self.profile([PROGRAM, "return"])
        os.rename(self.path("x.memprof"), self.path("a"))
        self.profile([PROGRAM, "kill"])
        self.memprof("merge", self.path("a"), self.path("x.memprof"), "-o", self.path("m"))
        self.assertEqual(self.stats("m")["leaked_of_running_threads"],
                         {"bytes": 2 * RUNNING[0], "allocations": 2 * RUNNING[1]})

    def test_samples_say_nothing_about_them(self):
        self.profile([PROGRAM, "return"], flags=["--sample", "64"])
        self.assertEqual(self.stats()["leaked_of_running_threads"], {"bytes": 0, "allocations": 0})

    # The region is a file: it is copied, not mapped.
    def test_a_region_in_a_file_says_the_same(self):
        self.profile([PROGRAM, "kill"], flags=["--region", self.path("x.region")])
        for capture in ("x.memprof", "x.region"):
            self.assertEqual(self.stats(capture)["leaked_of_running_threads"],
                             {"bytes": RUNNING[0], "allocations": RUNNING[1]}, capture)


if __name__ == "__main__":
    unittest.main(verbosity=2)
