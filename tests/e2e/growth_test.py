"""memprof growth: for a service that leaks beside a cache, it names the leak and nothing else."""
import csv
import io
import json
import os
import shutil
import unittest

import harness

LEAK = os.path.join(harness.PROGRAMS, "leak_beside_cache")


class GrowthTest(harness.MemprofTest):
    capture = None

    @classmethod
    def setUpClass(cls):
        # One run for all: six seconds, with a moment every 16 or 32 ms, or 128 on a slow machine.
        cls.shared = harness.tempfile.mkdtemp(prefix="memprof-test-")
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.capture = os.path.join(cls.shared, "x.memprof")
        done = harness.run([harness.MEMPROF, "run", "-q", "-o", cls.capture, "--", LEAK])
        assert done.returncode == 0, done.stderr

    def rows(self, *arguments):
        data = json.loads(self.memprof("growth", "--json", *arguments))
        return data, {row["function"]: row for row in data["rows"]}

    def test_the_leak_is_named_and_nothing_else(self):
        data, rows = self.rows(self.capture)
        self.assertEqual([name for name, row in rows.items() if row["verdict"] == "grows"],
                         ["RememberSession(int)"])
        self.assertEqual(rows["CachedPage(unsigned long, bool)"]["verdict"], "levels off")
        leak = rows["RememberSession(int)"]
        # 1,500 sessions of 128 bytes over the whole run, however long a step takes here.
        with_start = 1500 * 128 / data["duration_ms"] * 3600e3
        self.assertGreater(leak["bytes_per_hour"], with_start / 2)
        self.assertLess(leak["bytes_per_hour"], with_start * 2)
        self.assertLessEqual(leak["low"], leak["bytes_per_hour"])
        self.assertGreaterEqual(leak["high"], leak["bytes_per_hour"])
        self.assertGreater(leak["held_ms"], 0)
        self.assertLess(leak["held_ms"], data["duration_ms"])
        self.assertGreaterEqual(data["growth"]["moments"], 24)

    def test_rows_sum_to_the_total(self):
        for arguments in ((), ("-n", "1")):
            data, _ = self.rows(*arguments, self.capture)
            for unit in ("bytes", "allocations"):
                self.assertEqual(sum(row["live"][unit] for row in data["rows"] if row["memory"] == "heap"),
                                 data["growth"]["live"][unit])
        last = json.loads(self.memprof("transform", "json", self.capture))["moments"][-1]
        self.assertEqual(data["growth"]["live"]["bytes"], last["live"]["bytes"])
        table = list(csv.DictReader(io.StringIO(self.memprof("growth", "--csv", self.capture))))
        self.assertEqual(sum(int(row["live_bytes"]) for row in table if row["memory"] == "heap"), last["live"]["bytes"])
        self.assertEqual([row["verdict"] for row in table].count("grows"), 1)

    def test_the_text_names_it_with_its_callers_within_the_width(self):
        for columns in (80, 200):
            text = self.memprof("growth", "--limit", "4GiB", self.capture,
                                env={**os.environ, "COLUMNS": str(columns)})
            self.assertLessEqual(max(len(line) for line in text.splitlines()), columns)
            self.assertIn("limit of 4.0 GiB: in", text.replace("\n", " "))
            self.assertIn("← Handle", text)
            self.assertIn("levels off", text)
            self.assertIn("steady (", text)
            self.assertIn("total", text)
        self.assertRegex(text, r"RememberSession\(int\) +\S*leak_beside_cache.cc:\d+")
        every = self.memprof("growth", "--all", self.capture)
        self.assertIn("[runtime, kept by design]", every)
        self.assertNotRegex(every, r"\(\d+ places?\)")

    def test_time_until_a_limit_is_what_is_left_of_it_by_the_rate(self):
        data, rows = self.rows("--limit", "1GiB", self.capture)
        growth = data["growth"]
        left = (1 << 30) - growth["live"]["bytes"]
        expected = left / growth["bytes_per_hour"] * 3600e3
        self.assertAlmostEqual(growth["until_limit_ms"] / expected, 1, places=4)
        self.assertEqual(growth["until_limit_ms"], rows["RememberSession(int)"]["until_limit_ms"])
        self.assertIsNone(rows["CachedPage(unsigned long, bool)"]["until_limit_ms"])
        self.assertEqual(self.rows("--limit", "1KiB", self.capture)[0]["growth"]["until_limit_ms"], 0)

    def test_what_the_data_does_not_allow_is_said(self):
        self.profile(["true"])
        text = self.memprof("growth", self.path("x.memprof"))
        self.assertRegex(text, "no moments were kept|too few moments")
        early = f"{self.capture}@200ms"
        data, rows = self.rows(early)
        self.assertEqual({row["verdict"] for row in rows.values()}, {"undecided"})
        self.assertLessEqual(data["growth"]["until_ms"], 400)
        self.assertIn("too few", self.memprof("growth", early).replace("\n", " "))

    def test_a_part_of_the_run_can_be_asked_for(self):
        data, rows = self.rows("--since", "1s", self.capture)
        self.assertGreaterEqual(data["growth"]["from_ms"], 1000)
        self.assertEqual(rows["RememberSession(int)"]["verdict"], "grows")

    def test_estimates_are_marked(self):
        capture = self.path("s.memprof")
        done = harness.run([harness.MEMPROF, "run", "-q", "--sample", "1K", "-o", capture, "--", LEAK])
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.memprof("growth", capture)
        self.assertIn("≈ live", text)
        self.assertIn("sampled:", text)
        data, rows = self.rows(capture)
        self.assertGreater(rows["RememberSession(int)"]["live"]["standard_error"], 0)
        # That a sampled cache isn't taken for a leak, but for few in thousands: core/growth_test.
        self.assertEqual(rows["RememberSession(int)"]["verdict"], "grows")

    def test_bad_input_is_refused_in_one_line(self):
        for arguments, status in ((("--limit", "much", self.capture), 2),
                                  (("--since", "peak", self.capture), 2),
                                  (("-n", "-1", self.capture), 2),
                                  (("--json", "--csv", self.capture), 2),
                                  ((self.capture + "@soon",), 2),
                                  ((self.path("nothing.memprof"),), 3)):
            done = harness.run([harness.MEMPROF, "growth", *arguments])
            self.assertEqual(done.returncode, status, arguments)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    unittest.main()
