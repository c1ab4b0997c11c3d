#!/usr/bin/python3
"""Live bytes over time, as the supervisor saw them."""
import json
import os
import re
import subprocess
import sys
import time
import unittest

import harness

STEPS = ("first_step", "second_step", "third_step")
# (bytes, allocations) of each step's site, after each step
STATES = (((10000, 10), (0, 0), (0, 0)),
          ((10000, 10), (15000, 5), (0, 0)),
          ((0, 0), (15000, 5), (0, 0)),
          ((0, 0), (15000, 5), (100000, 1)))


class HistoryTest(harness.MemprofTest):
    def start(self, program, *flags):
        run = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--",
             os.path.join(harness.PROGRAMS, program)],
            cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, run)
        return run

    def massif(self):
        """[(time, bytes, what tree there is)] of the massif export."""
        text = self.memprof("transform", "massif", self.path("x.memprof"))
        return [(int(time_ms), int(size), tree) for time_ms, size, tree in re.findall(
            r"^time=(\d+)\nmem_heap_B=(\d+)\n(?:mem_.*\n)*heap_tree=(\w+)$", text, re.M)]

    @staticmethod
    def end(run):
        run.stdin.close()  # the program ends with its input
        run.wait(harness.TIMEOUT)
        run.stdout.close()

    def history(self):
        """The profile, and for each moment what the steps' sites had."""
        profile = json.loads(
            self.memprof("transform", "json", "--history", self.path("x.memprof")))
        moments = len(profile["moments"])
        live = [[(0, 0)] * len(STEPS) for _ in range(moments)]
        for site in profile["sites"]:
            self.assertEqual(len(site["history"]["bytes"]), moments)
            for step, name in enumerate(STEPS):
                if not any(frame["function"] == name for frame in site["frames"]):
                    continue
                for moment in range(moments):
                    before = live[moment][step]
                    live[moment][step] = (before[0] + site["history"]["bytes"][moment],
                                          before[1] + site["history"]["allocations"][moment])
        for moment, what in enumerate(profile["moments"]):
            for unit in ("bytes", "allocations"):
                self.assertEqual(
                    sum(site["history"][unit][moment] for site in profile["sites"]),
                    what["live"][unit])
        return profile, [tuple(figures) for figures in live]

    def run_in_steps(self):
        """Each step is taken when a checkpoint shows a moment of the one before."""
        run = self.start("grows_in_steps", "--checkpoint", "1")
        for state in STATES:
            run.stdin.write(b"x")
            run.stdin.flush()
            self.assertEqual(run.stdout.read(1), b"x")
            deadline = time.monotonic() + harness.TIMEOUT
            while True:
                self.assertLess(time.monotonic(), deadline, f"no moment has {state}")
                time.sleep(0.1)
                if not os.path.exists(self.path("x.memprof")):
                    continue
                _, live = self.history()
                if live and live[-1] == state:
                    break
        self.end(run)
        self.assertEqual(run.returncode, 0)

    def test_each_site_has_at_the_moments_what_it_had(self):
        self.run_in_steps()
        profile, live = self.history()
        self.assert_rows_sum_to_totals(profile)
        times = [moment["time_ms"] for moment in profile["moments"]]
        self.assertEqual(times, sorted(set(times)))
        # A later moment never has an earlier state.
        known = [STATES.index(figures) for figures in live if figures in STATES]
        self.assertEqual(set(known), set(range(len(STATES))))
        self.assertEqual(known, sorted(known))

        # The timeline saw the same, of the whole.
        timeline = profile["timeline"]
        self.assertGreater(timeline["interval_ms"], 0)
        heaps = {point["heap_bytes"] for point in timeline["points"]}
        rest = profile["leaked"]["bytes"] - sum(STATES[-1][step][0] for step in range(3))
        for state in STATES:
            self.assertIn(sum(figures[0] for figures in state) + rest, heaps)
        self.assertEqual(timeline["points"][-1]["heap_bytes"], profile["leaked"]["bytes"])
        rss = [point["rss_bytes"] for point in timeline["points"] if point["rss_bytes"]]
        self.assertGreater(max(rss), 100_000)
        self.assertLessEqual(max(rss), profile["rss_peak_bytes"])

        # A moment asked for by its time takes the place of the peak.
        second = profile["moments"][live.index(STATES[1])]
        capture = f"{self.path('x.memprof')}@{second['time_ms']}ms"
        done = harness.run([harness.MEMPROF, "transform", "json", capture])
        shown = json.loads(done.stdout)
        self.assertIn(b"live at", done.stderr)
        self.assertEqual(shown["selected"]["time_ms"], second["time_ms"])
        self.assertEqual(shown["peak"]["bytes"], second["live"]["bytes"])
        self.assert_rows_sum_to_totals(shown)
        for report in ("summary", "table", "tree"):
            text = self.memprof(report, "-n", "0", capture)
            self.assertIn("second_step", text)
            self.assertRegex(text, r"the\s+nearest\s+of")
        summary = self.memprof("summary", "-n", "0", capture)
        self.assertRegex(summary, r"14\.6 KiB +\S+ +5 .*second_step")
        end = self.memprof("summary", "-n", "0", self.path("x.memprof") + "@end")
        self.assertRegex(end, r"97\.7 KiB +\S+ +1 .*third_step")
        self.assertIn("Live at the end", end)
        page = self.path("page.html")
        self.memprof("flamegraph", "-o", page, capture)
        with open(page, encoding="utf-8") as file:
            written = file.read()
        self.assertIn('"selected":{"time_ms":%d' % second["time_ms"], written)
        # The page's bands sum to what was live, and have the functions that held it.
        data = json.loads(re.search(r'id="capture">(.*?)</script>', written, re.S)[1])
        bands = data["bands"]
        self.assertEqual(bands["time_ms"], [moment["time_ms"] for moment in profile["moments"]])
        for by in ("bytes", "allocations"):
            columns = [band[by] for band in bands["functions"]] + [bands["others"][by]]
            self.assertEqual([sum(values) for values in zip(*columns)],
                             [moment["live"][by] for moment in profile["moments"]])
        names = {data["strings"][band["function"]] for band in bands["functions"]}
        self.assertTrue(any("second_step" in name for name in names), names)

        # massif has a snapshot of each moment beside the start, the peak and the end.
        snapshots = self.massif()
        self.assertEqual(snapshots, sorted(snapshots, key=lambda snapshot: snapshot[0]))
        self.assertEqual([snapshot[:2] for snapshot in snapshots if snapshot[2] != "peak"][1:-1],
                         [(moment["time_ms"], moment["live"]["bytes"])
                          for moment in profile["moments"]])
        self.assertIn("detailed", [tree for _, _, tree in snapshots[:-1]])

        stats = self.memprof("stats", self.path("x.memprof"), env={**os.environ, "COLUMNS": "80"})
        self.assertIn("heap over time", stats)
        self.assertIn("█", stats)
        self.assertLessEqual(max(len(line) for line in stats.splitlines() if "▕" in line), 80)

    def test_a_moment_that_is_none_is_refused_in_one_line(self):
        self.profile(["true"])
        capture = self.path("x.memprof")
        for bad in ("@", "@soon", "@10", "@-5s", "@10mm"):
            done = harness.run([harness.MEMPROF, "summary", capture + bad])
            self.assertEqual(done.returncode, 2, bad)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertEqual(done.stdout, b"")
        self.memprof("summary", self.path("nothing.memprof") + "@10m", status=3)
        # A name that has an '@' is a name first.
        os.rename(capture, self.path("x@5s"))
        self.assertIn("Live at the peak", self.memprof("summary", self.path("x@5s")))
        self.assertIn("Live at the end", self.memprof("summary", self.path("x@5s") + "@end"))

    def test_a_region_alone_has_no_moments_and_says_so(self):
        self.profile(["true"], flags=("--region", self.path("x.region")))
        stats = self.stats("x.region")
        self.assertIsNone(stats["timeline"])
        self.assertIn("no supervisor", self.memprof("stats", self.path("x.region")))
        done = harness.run([harness.MEMPROF, "table", self.path("x.region") + "@1s"])
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no moments", done.stderr)
        ended = stats["end"]["kind"] not in ("running", "cut")
        self.assertIn("Live at the end" if ended else "Live at",
                      self.memprof("table", self.path("x.region") + "@end"))

    def test_the_memory_of_what_is_executed_without_a_tracker_is_not_the_images(self):
        hog = "x = bytearray(200 << 20)"
        self.profile(["env", "-u", "LD_PRELOAD", sys.executable, "-c", hog])
        profile, _ = self.history()
        self.assertEqual(profile["end"]["kind"], "exec")
        self.assertLess(profile["rss_peak_bytes"], 50 << 20)
        for point in profile["timeline"]["points"]:
            self.assertLess(point["rss_bytes"] or 0, 50 << 20)

    def test_many_sites_cost_the_supervisor_next_to_nothing(self):
        run = self.start("many_sites", "--checkpoint", "0")
        self.assertEqual(run.stdout.read(1), b"x")

        def cpu_seconds():
            with open(f"/proc/{run.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        # CPU time of its own, which no load of the machine changes; 2 % are the moments'.
        started, before = time.monotonic(), cpu_seconds()
        time.sleep(3)
        used, passed = cpu_seconds() - before, time.monotonic() - started
        self.assertLess(used / passed, 0.1)
        self.end(run)
        profile, _ = self.history()
        self.assertGreater(len(profile["sites"]), 32768 // 2)
        self.assertGreater(len(profile["moments"]), 0)
        last = profile["moments"][-1]
        self.assertFalse(last["inexact"])
        self.assertEqual(last["live"], {key: profile["leaked"][key] for key in last["live"]})


if __name__ == "__main__":
    unittest.main()
