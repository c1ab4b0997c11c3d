#!/usr/bin/python3
"""Temporary allocations, sizes and functions of the allocator as the commands show them; figures of
known programs are known_answer_test's."""
import json
import os
import re
import unittest

import harness

TEMPORARIES = os.path.join(harness.PROGRAMS, "temporaries")


class TemporaryTest(harness.MemprofTest):
    def test_the_threshold_is_recorded(self):
        for flags, threshold in (([], 1), (["--temporary", "64"], 64)):
            self.assertEqual(self.profile([TEMPORARIES], flags).returncode, 0)
            self.assertEqual(self.stats()["temporary"]["threshold"], threshold)

    def test_a_threshold_that_is_none_is_refused_in_one_line(self):
        for flags in (["--temporary", "0"], ["--temporary", "65"], ["--temporary=-1"],
                      ["--temporary", "x"], ["--temporary", "2", "--sample", "1K"]):
            done = harness.run([harness.MEMPROF, "run", *flags, "true"], cwd=self.directory)
            self.assertEqual(done.returncode, 125, flags)
            self.assertEqual(done.stderr.decode().count("\n"), 1, done.stderr)

    def test_reports_list_what_was_temporary_and_its_total(self):
        self.assertEqual(self.profile([TEMPORARIES]).returncode, 0)
        for command in ("summary", "table", "tree"):
            text = self.memprof(command, "--temporary", self.path("x.memprof"))
            self.assertRegex(text, r"10\.4 KiB +100\.0% +121 .*total", command)
            self.assertIn("by_pointer", text)
        done = harness.run([harness.MEMPROF, "table", "--temporary", "--leaks",
                            self.path("x.memprof")])
        self.assertEqual(done.returncode, 2)

    def test_a_difference_of_them_is_told(self):
        for name, flags in (("one", []), ("more", ["--temporary", "64"])):
            self.assertEqual(self.profile([TEMPORARIES], flags).returncode, 0)
            os.rename(self.path("x.memprof"), self.path(name))
        figures = [json.loads(self.memprof("stats", "--json", name))["temporary"]
                   for name in ("one", "more")]
        self.assertGreater(figures[1]["bytes"], figures[0]["bytes"])
        difference = json.loads(self.memprof("diff", "--json", "one", "more"))
        for unit in ("bytes", "allocations"):
            self.assertEqual(difference["difference"]["temporary"][unit],
                             figures[1][unit] - figures[0][unit])
            self.assertEqual(sum(row["temporary"]["difference"][unit]
                                 for row in difference["rows"]),
                             figures[1][unit] - figures[0][unit])
        text = self.memprof("diff", "--temporary", "one", "more")
        self.assertIn("Temporary: what changed", text)
        self.assertRegex(text, r"(?m)^  temporary  10\.4 KiB → ")

    def test_folded_stacks_of_temporaries_sum_to_them(self):
        self.assertEqual(self.profile([TEMPORARIES]).returncode, 0)
        lines = self.memprof("transform", "folded", "--figure", "temporary",
                             self.path("x.memprof")).splitlines()
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), 10638)

    def test_stats_draw_sizes_and_functions(self):
        self.assertEqual(self.profile([TEMPORARIES]).returncode, 0)
        text = self.memprof("stats", self.path("x.memprof"))
        self.assertRegex(text, r"temporary +10\.4 KiB \(10,638 B\) in 121 allocations")
        bars = {name: len(bar) for name, bar in
                re.findall(r"^ *(\d+ .*?B)  .*%  (█+)$", text, re.M)}
        self.assertEqual(max(bars, key=bars.get), "32 B to < 64 B")
        self.assertRegex(text, r"(?m)^ *aligned +51 .*2\.5 KiB")
        for title in ("Allocated most bytes", "Allocated most often"):
            heading, *rows = text.split(title)[1].split("\n\n")[0].splitlines()[1:]
            self.assertEqual(heading.split(), ["blocks", "bytes", "share", "function", "place"])
            counts = [int(row.split()[0].replace(",", "")) for row in rows]
            self.assertEqual(sum(counts[:-1]), counts[-1], title)

    def test_samples_estimate_them(self):
        """At a byte nearly every block is sampled, and whether it was temporary is known exactly."""
        self.assertEqual(self.profile([TEMPORARIES], ["--sample", "1"]).returncode, 0)
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        self.assertIn("standard_error", profile["temporary"])
        # All but what realloc(p, 0) and a realloc that fails were given, and what of the smallest
        # blocks was not sampled.
        self.assertLess(abs(profile["temporary"]["bytes"] - (10638 - 800 - 700)), 30)

    def test_a_page_has_them(self):
        self.assertEqual(self.profile([TEMPORARIES]).returncode, 0)
        page = self.memprof("flamegraph", self.path("x.memprof")).strip()
        with open(page, encoding="utf-8") as file:
            text = file.read()
        data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>',
                                    text, re.S)[1])
        self.assertEqual(data["totals"]["temporary"], [10638, 121])
        self.assertEqual(data["temporary_threshold"], 1)
        self.assertEqual(sum(data["own"]["temporary_bytes"]), 10638)
        self.assertEqual(sum(data["own"]["temporary_allocations"]), 121)


if __name__ == "__main__":
    unittest.main(verbosity=2)
