#!/usr/bin/python3
"""Two builds of one program, whose lines and addresses all differ, with one planted regression
(../programs/two_builds.c): exactly one row differs, by what was planted."""
import csv
import io
import json
import os
import re
import unittest

import harness

FIGURES = ("peak", "leaked", "total")
UNITS = ("bytes", "allocations")
BEFORE = {"bytes": 10 * 1000, "allocations": 10}
AFTER = {"bytes": 40 * 1500, "allocations": 40}
PLANTED = {unit: AFTER[unit] - BEFORE[unit] for unit in UNITS}


class DiffTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        for build in ("old", "new"):
            self.profile([os.path.join(harness.PROGRAMS, "two_builds_" + build)])
            os.rename(self.path("x.memprof"), self.path(build))

    def diff(self, *options, names=("old", "new")):
        return json.loads(self.memprof("diff", "--json", *names, *options))

    def assert_rows_sum_up(self, diff):
        for figure in FIGURES:
            for unit in UNITS:
                for side in ("before", "after"):
                    self.assertEqual(sum(row[figure][side][unit] for row in diff["rows"]),
                                     diff[side][figure][unit])
                self.assertEqual(sum(row[figure]["difference"][unit] for row in diff["rows"]),
                                 diff["difference"][figure][unit])
                self.assertEqual(diff["difference"][figure][unit],
                                 diff["after"][figure][unit] - diff["before"][figure][unit])

    def test_exactly_the_planted_row_differs(self):
        for by in ("site", "function", "module"):
            with self.subTest(by=by):
                diff = self.diff("--by", by)
                self.assert_rows_sum_up(diff)
                changed = [row for row in diff["rows"]
                           if any(row[f]["before"] != row[f]["after"] for f in FIGURES)]
                self.assertEqual(len(changed), 1, changed)
                row = changed[0]
                self.assertEqual(row["function"], "" if by == "module" else "CacheReply")
                self.assertEqual(os.path.basename(row["module"]), "two_builds_new")
                for figure in FIGURES:
                    self.assertEqual(row[figure]["difference"], PLANTED)
                    self.assertEqual(diff["difference"][figure], PLANTED)
                    if by != "module":
                        self.assertEqual(row[figure]["before"], BEFORE)
                        self.assertEqual(row[figure]["after"], AFTER)
        rows = self.diff("--by", "site")["rows"]
        stacks = [[f["function"] for f in row["frames"]][:3] for row in rows]
        for stack in (["CacheReply", "Serve", "Connect"], ["Remember", "ReadConfig", "Connect"],
                      ["Remember", "Reload", "Connect"]):
            self.assertEqual(stacks.count(stack), 1, stacks)
        # By function the two callers of Remember are one row, at the line of the later build.
        remember = [row for row in self.diff("--by", "function")["rows"]
                    if row["function"] == "Remember"]
        self.assertEqual([row["leaked"]["after"] for row in remember],
                         [{"bytes": 6000, "allocations": 20}])
        self.assertGreater(remember[0]["line"], 61)

    def test_backwards_it_is_the_negative(self):
        forth, back = self.diff(), self.diff(names=("new", "old"))
        for figure in FIGURES:
            for unit in UNITS:
                self.assertEqual(forth["difference"][figure][unit],
                                 -back["difference"][figure][unit])
        self.assertEqual(back["rows"][0]["peak"]["difference"]["bytes"], -50000)

    def test_the_text_shows_what_changed_and_sums_up_the_rest(self):
        text = self.memprof("diff", "old", "new")
        lines = text.splitlines()
        self.assertRegex(text, r"(?m)^  peak    .* → .*, \+48\.8 KiB \(\+\d+\.\d%\), \+30 blocks$")
        start = lines.index("Live at the peak: what changed, by site")
        row, callers, unchanged, total = lines[start + 2:start + 6]
        self.assertRegex(row, r"^\+48\.8 KiB +\+30 +9\.8 KiB +58\.6 KiB +CacheReply +"
                              r"two_builds\.c:\d+$")
        self.assertRegex(callers, "^ +← Serve ← Connect ← main$")
        self.assertRegex(unchanged, r"^ +0 B +0 .* unchanged \(\d+ sites?\)$")
        self.assertRegex(total, r"^\+48\.8 KiB +\+30 .* total$")
        self.assertNotIn("\x1b", text)
        self.assertIn("Never freed: what changed, by function",
                      self.memprof("diff", "--leaks", "--by", "function", "old", "new"))
        self.assertIn("Allocated in all: what changed",
                      self.memprof("diff", "--total", "old", "new"))
        same = self.memprof("diff", "old", "old")
        self.assertNotIn("CacheReply", same)
        self.assertIn("unchanged", same)

    def test_it_keeps_to_the_width(self):
        for width in (80, 200):
            text = self.memprof("diff", "old", "new",
                                env=dict(os.environ, COLUMNS=str(width)))
            self.assertLessEqual(max(len(line) for line in text.splitlines()), width)

    def test_csv_has_the_same_figures(self):
        rows = list(csv.DictReader(io.StringIO(self.memprof("diff", "--csv", "old", "new"))))
        expected = self.diff()["rows"]
        self.assertEqual(len(rows), len(expected))
        for row, want in zip(rows, expected):
            self.assertEqual(row["stack"], " < ".join(f["function"] for f in want["frames"]))
            for figure in FIGURES:
                for side in ("before", "after", "difference"):
                    for unit in UNITS:
                        self.assertEqual(int(row[f"{figure}_{side}_{unit}"]),
                                         want[figure][side][unit])

    def test_the_page_is_a_file_beside_the_capture(self):
        self.assertEqual(self.memprof("diff", "--html", "old", "new"), "new.diff.html\n")
        with open(self.path("new.diff.html"), encoding="utf-8") as file:
            page = file.read()
        start = page.index('id="difference">') + len('id="difference">')
        data = json.loads(page[start:page.index("</script>", start)])
        before, after = self.stats("old"), self.stats("new")
        for figure in FIGURES:
            whole = [side[figure][unit] for side in (before, after) for unit in UNITS]
            self.assertEqual(data["totals"][figure], whole)
            self.assertEqual([sum(column) for column in zip(*data["own"][figure])], whole)
            for rows in data["tables"].values():
                self.assertEqual([sum(c) for c in zip(*(row[figure] for row in rows))], whole)
        # The program has one module, so that nothing else is left by module.
        for by, names in (("site", ["CacheReply", "unchanged"]),
                          ("function", ["CacheReply", "unchanged"]),
                          ("module", ["two_builds_new"])):
            self.assertEqual([row["name"] for row in data["tables"][by]], names)
        # Never overwritten unasked; the name says what it is to be.
        self.memprof("diff", "--html", "old", "new", status=2)
        self.memprof("diff", "--html", "-f", "old", "new")
        self.assertEqual(self.memprof("diff", "old", "new", "-o", "x.html"), "x.html\n")
        with open(self.path("x.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), page)

    def test_gos_pprof_finds_the_same_difference(self):
        if harness.GO is None:
            self.skipTest("Debian's go is not installed")
        environment = dict(os.environ, HOME=self.directory, PPROF_BINARY_PATH=self.directory)
        for name in ("old", "new"):
            self.memprof("transform", "pprof", name, "-o", name + ".pb.gz")
        for figure, index in zip(FIGURES, ("peak_space", "leaked_space", "alloc_space")):
            done = harness.run([harness.GO, "tool", "pprof", "-top", "-unit=B", "-nodefraction=0",
                                f"-sample_index={index}", "-diff_base", "old.pb.gz",
                                "new.pb.gz"], env=environment, cwd=self.directory)
            text = done.stdout.decode()
            self.assertEqual(done.returncode, 0, done.stderr)
            whole = re.search(r"Showing nodes accounting for (\d+)B, .* of (\d+)B total", text)
            self.assertEqual(int(whole[1]), PLANTED["bytes"], text)
            # pprof's total is that of the base.
            self.assertEqual(int(whole[2]), self.stats("old")[figure]["bytes"])
            flat = re.findall(r"^ *(-?\d+)B? +[\d.-]+%? +\S+ +\S+ +\S+  (.*)$", text, re.M)
            self.assertEqual([name for bytes_, name in flat if int(bytes_) != 0], ["CacheReply"])

    def test_its_notes_say_what_to_install(self):
        # Nobody builds libstdc++ with -g because a report says so.
        for name in ("first", "second"):
            self.profile([os.path.join(harness.PROGRAMS, "leaky_service")])
            os.rename(self.path("x.memprof"), self.path(name))
        text = " ".join(self.memprof("diff", "first", "second").split())
        note = re.search(r"symbols: [^:]*libstdc\+\+[^:]*: [^;]*; (.*)", text)
        if note is None:
            self.skipTest("libstdc++ has debug info here")
        self.assertTrue(note[1].startswith("install libstdc++"), note[0])

    def test_wrong_words_are_refused(self):
        for options, says in ((("--by", "line"), "site, function or module"),
                              (("-s", "size"), "bytes, allocations or function"),
                              (("--leaks", "--total"), "excludes")):
            done = harness.run([harness.MEMPROF, "diff", "old", "new", *options],
                               cwd=self.directory)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr.decode(), says)
        self.memprof("diff", "old", "nowhere", status=3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
