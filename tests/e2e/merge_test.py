#!/usr/bin/python3
"""Merges of captures: of one program run twice, of different programs, and merges that are refused."""
import json
import os
import shutil
import unittest

import harness


class MergeTest(harness.MemprofTest):
    def capture(self, name, program="leaky_service", flags=()):
        done = self.profile([os.path.join(harness.PROGRAMS, program)], flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.rename(self.path("x.memprof"), self.path(name))
        return self.path(name)

    def merged(self, output, *captures):
        self.memprof("merge", *captures, "-o", self.path(output))
        with open(self.path(output), "rb") as file:
            return file.read()

    def test_totals_add_up_and_order_and_grouping_do_not_matter(self):
        a = self.capture("a")
        b = self.capture("b")
        c = self.capture("c", "kinds")
        everything = self.merged("abc", a, b, c)
        self.assertEqual(self.merged("cba", c, b, a), everything)
        self.merged("ab", a, b)
        self.assertEqual(self.merged("ab-c", self.path("ab"), c), everything)
        self.merged("bc", b, c)
        self.assertEqual(self.merged("a-bc", a, self.path("bc")), everything)

        parts = [self.sites(name) for name in ("a", "b", "c")]
        whole = self.sites("abc")
        self.assert_rows_sum_to_totals(whole)
        for figure in ("peak", "leaked", "total", "temporary"):
            for unit in ("bytes", "allocations"):
                self.assertEqual(whole[figure][unit], sum(part[figure][unit] for part in parts))
        # Each run's own, in whatever groups they came: by the program's name, and by the pid.
        for name, part in (("kinds", parts[2]), (str(parts[1]["pid"]), parts[1])):
            of_one = json.loads(self.memprof("transform", "json", self.path("a-bc"), "--process", name))
            self.assert_rows_sum_to_totals(of_one)
            self.assertEqual(of_one["pid"], part["pid"])
            for figure in ("peak", "leaked", "total", "temporary"):
                self.assertEqual(of_one[figure], part[figure])
                self.assertEqual([site[figure] for site in of_one["sites"]],
                                 [site[figure] for site in part["sites"]])
        # One program's places are not told apart by its run.
        self.assertEqual(len(self.sites("ab")["sites"]), len(parts[0]["sites"]))

        summary = self.memprof("summary", self.path("abc"))
        self.assertIn("a merge of 3 captures", summary)
        self.assertRegex(summary, r"(?s)an upper\s+bound")
        with open(a, "rb") as file:
            self.assertEqual(self.merged("alone", a), file.read())

    def test_what_the_runtime_keeps_is_no_leak_of_a_merge_either(self):
        a = self.capture("a", "containers")
        b = self.capture("b", "containers")
        self.merged("ab", a, b)
        with open(self.path("memprof.toml"), "w", encoding="utf-8") as file:
            file.write("[budget]\nleaked = \"10 KiB\"\n")  # 4.7 KiB each are its own
        self.assertGreater(self.sites("ab")["leaked"]["bytes"], 2 * 72000)
        for captures in ([a], [b], [self.path("ab")], [a, b]):
            done = harness.run([harness.MEMPROF, "check", *captures, "--budget",
                                self.path("memprof.toml")], cwd=self.directory)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_reports_merge_what_they_are_given(self):
        a = self.capture("a")
        b = self.capture("b")
        self.merged("ab", a, b)
        for command in (("summary", "-n", "0"), ("table", "-n", "0"), ("tree",),
                        ("stats", "--json"), ("transform", "json"), ("transform", "folded")):
            self.assertEqual(self.memprof(*command, a, b), self.memprof(*command, self.path("ab")))

    def test_regions_of_processes_that_were_killed_at_once_are_left_out(self):
        a = self.capture("a")
        b = self.capture("b")
        for name, size in (("empty", 0), ("zeros", 3 << 20)):
            with open(self.path(name), "wb") as file:
                file.truncate(size)
            done = harness.run([harness.MEMPROF, "stats", self.path(name)])
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"before it counted anything", done.stderr)
        merge = [harness.MEMPROF, "merge", a, self.path("empty"), b, self.path("zeros"), "-o"]
        done = harness.run([*merge, self.path("some")])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(b"is left out"), 2)
        self.merged("ab", a, b)
        self.assertEqual(self.memprof("stats", "--json", self.path("some")),
                         self.memprof("stats", "--json", self.path("ab")))
        self.assertEqual(self.memprof("summary", a, self.path("zeros"), b), self.memprof("summary", a, b))

    def test_what_can_not_be_summed_is_refused_in_one_line(self):
        a = self.capture("a")
        sampled = self.capture("s", flags=("--sample", "1K"))
        shutil.copy(a, self.path("copy"))
        with open(a, "rb") as file:
            damaged = bytearray(file.read())
        damaged[-40] ^= 1
        with open(self.path("damaged"), "wb") as file:
            file.write(damaged)
        for captures, status, why in (((a, self.path("copy")), 2, b"counted twice"),
                                      ((a, sampled), 2, b"can't be summed"),
                                      ((a, self.path("none")), 3, b"no such file"),
                                      ((a, self.path("damaged")), 3, b"damaged")):
            done = harness.run([harness.MEMPROF, "merge", *captures, "-o", self.path("out")])
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertFalse(os.path.exists(self.path("out")))
        exists = harness.run([harness.MEMPROF, "merge", a, "-o", a])
        self.assertEqual(exists.returncode, 2)
        self.assertIn(b"-f", exists.stderr)

    def test_stored_names_go_along(self):
        a = self.capture("a", flags=("--symbolize",))
        b = self.capture("b", flags=("--symbolize",))
        self.merged("ab", a, b)
        parsed = self.memprof("parse", self.path("ab"))
        self.assertIn("RememberUser", parsed.split("\nsymbols:")[1])
        self.memprof("summary", self.path("ab"))

    def test_a_region_is_merged_as_it_is_now(self):
        a = self.capture("a")
        done = self.profile([os.path.join(harness.PROGRAMS, "leaky_service")],
                            ("--region", self.path("r.region")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.merged("ar", a, self.path("r.region"))
        whole = json.loads(self.memprof("stats", "--json", self.path("ar")))
        self.assertEqual(whole["total"]["bytes"], 2 * self.stats("a")["total"]["bytes"])


if __name__ == "__main__":
    unittest.main()
