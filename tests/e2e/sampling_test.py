#!/usr/bin/python3
"""run --sample: estimates of a program's known sums, and other properties of samples.

An estimate may be off by 7 of its true standard errors: once in 10^11 runs if it is the sum of
many samples, so only places with many are checked.
"""
import json
import math
import os
import signal
import subprocess
import unittest

import harness

SUMS = os.path.join(harness.PROGRAMS, "sampled_sums")
ERRORS = 7


class Blocks:
    """Sums of known blocks, and the variance of their estimates."""

    def __init__(self, sizes, distance):
        self.allocations = self.bytes = self.of_allocations = self.of_bytes = self.rounding = 0
        self.samples = 0
        for size, count in sizes:
            share = -math.expm1(-(size + 1) / distance)
            up = 1 / share - math.floor(1 / share)
            rounding = up * (1 - up) * share
            self.samples += count * share
            self.allocations += count
            self.bytes += count * size
            self.of_allocations += count * ((1 - share) / share + rounding)
            self.of_bytes += count * (1 - share) / share * size * size
            self.rounding += count * 0.25 * share


# For each function, the sizes of all its blocks and of those kept.
FREED = [(16 + i, 200000 // 256 + (i < 200000 % 256)) for i in range(256)]
PLACES = {
    "freed": (FREED, []),
    "keep": ([(1000, 40000)],) * 2,
    "grown": ([(100 * n, 2000) for n in range(1, 21)], [(2000, 2000)]),
    "large": ([(50000000, 3)], [(50000000, 1)]),
    "none": ([(0, 30000)],) * 2,
    "moved": ([(500, 20000)], []),
}


class SamplingTest(harness.MemprofTest):
    def sample(self, *command, distance="1K", **options):
        done = self.profile(command, ["--sample", distance, harness.EACH], **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        self.assertEqual(profile["tracker"]["dropped_events"], 0)
        return profile

    def of(self, profile, function):
        return [s for s in profile["sites"] if s["frames"][0]["function"] == function]

    def assert_estimates(self, sites, figure, sizes, distance):
        true = Blocks(sizes, distance)
        for unit in ("bytes", "allocations"):
            got = sum(s[figure][unit] for s in sites)
            error = math.sqrt(getattr(true, "of_" + unit) + true.rounding)
            self.assertLessEqual(abs(got - getattr(true, unit)), ERRORS * error + 1e-6,
                                 f"{figure} {unit}: {got}, {getattr(true, unit)} ± {error:.1f}")
            told = math.sqrt(sum(s[figure]["standard_error"][unit] ** 2 for s in sites))
            if true.samples > 300 and getattr(true, "of_" + unit) > 100 * true.rounding:
                self.assertLess(abs(told / error - 1), 0.3, f"{figure} {unit}: {told}, {error}")

    def check(self, profile, distance, kept=True):
        self.assertEqual(profile["tracker"]["sample_bytes"], distance)
        for function, (all_sizes, kept_sizes) in PLACES.items():
            sites = self.of(profile, function)
            self.assert_estimates(sites, "total", all_sizes, distance)
            if kept and kept_sizes:
                self.assert_estimates(sites, "leaked", kept_sizes, distance)
            else:
                self.assertEqual(sum(s["leaked"]["allocations"] for s in sites), 0)
                self.assertEqual(sum(s["leaked"]["bytes"] for s in sites), 0)
            for site in sites:
                self.assertTrue(any(site["sizes"]["from"] <= size <= site["sizes"]["to"]
                                    for size, _ in all_sizes), site)

    def test_estimates_every_place_within_its_error(self):
        self.check(self.sample(SUMS), 1024)
        self.check(self.sample(SUMS, distance="10K"), 10240)

    def test_large_blocks_are_counted_exactly(self):
        large = self.of(self.sample(SUMS, distance="512K"), "large")
        self.assertEqual([s["total"]["bytes"] for s in large], [150000000])
        self.assertEqual([s["leaked"]["allocations"] for s in large], [1])
        self.assertEqual([s["total"]["standard_error"]["bytes"] for s in large], [0])

    def test_a_distance_of_a_byte_counts_nearly_everything(self):
        profile = self.sample(SUMS, distance="1")
        self.check(profile, 1)
        kept = self.of(profile, "keep")
        self.assertEqual(sum(s["total"]["bytes"] for s in kept), 40000000)

    def test_what_was_freed_is_gone_to_the_byte(self):
        for distance in ("1", "1K", "512K"):
            self.check(self.sample(SUMS, "freed", distance=distance),
                       {"1": 1, "1K": 1024, "512K": 524288}[distance], kept=False)

    def test_a_forked_child_is_sampled_too(self):
        self.check(self.sample(SUMS, "fork"), 1024)
        child, = [name for name in os.listdir(self.directory)
                  if name not in ("x.memprof", "x.all.memprof")]
        profile = self.sites(child)
        self.assert_rows_sum_to_totals(profile)
        self.check(profile, 1024)

    def test_under_jemalloc(self):
        environment = dict(os.environ, LD_PRELOAD="libjemalloc.so.2")
        self.check(self.sample(SUMS, env=environment), 1024)

    def test_every_entry_point_is_freed_by_every_other(self):
        for program in ("operators", "c_entry_points", "freed_elsewhere", "realloc_cases",
                        "jemalloc_mixed", "signal_handler", "coroutines", "short_threads",
                        "surplus_threads", "frees_after_keys", "new_handlers", "left_allocator"):
            with self.subTest(program=program):
                command = [os.path.join(harness.PROGRAMS, program)]
                bare = self.bare(command)
                done = self.profile(command, ["--sample", "100"])
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (bare.returncode, bare.stdout, bare.stderr))
                self.assert_rows_sum_to_totals(self.sites())

    def test_operators_do_not_give_their_malloc_a_second_chance(self):
        """At 1 byte nearly every block is sampled: each once."""
        profile = self.sample(os.path.join(harness.PROGRAMS, "random_walk_threads"), distance="1")
        done = self.profile([os.path.join(harness.PROGRAMS, "random_walk_threads")])
        self.assertEqual(done.returncode, 0)
        exact = self.sites()
        for place in ("place0", "place1", "place2", "place3"):
            counts = [sum(s["total"]["allocations"] for s in self.of(p, place))
                      for p in (profile, exact)]
            self.assertEqual(*counts, place)

    def test_killed(self):
        with subprocess.Popen([harness.MEMPROF, "run", "-q", "-o", self.path("k.memprof"),
                               "--sample", "1K", "--region", self.path("k.region"), "--", SUMS,
                               "hold"], stdout=subprocess.PIPE, cwd=self.directory) as supervisor:
            self.assertEqual(supervisor.stdout.readline(), b"done\n")
            with open(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children",
                      encoding="ascii") as file:
                program = int(file.read().split()[0])
            # The region says that it is of samples too.
            region = harness.run([harness.MEMPROF, "transform", "json", self.path("k.region")])
            os.kill(program, signal.SIGKILL)
            self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + signal.SIGKILL)
        self.check(json.loads(region.stdout), 1024)
        self.check(self.sites("k.memprof"), 1024)

    def test_reports_say_that_figures_are_estimates(self):
        done = harness.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), "--sample",
                            "4K", "--", SUMS], cwd=self.directory)
        said = done.stderr.decode()
        self.assertRegex(said, r"sampled, one block per 4\.0 KiB: peak ≈ [\d.]+ ± [\d.]+ MiB")
        capture = self.path("x.memprof")
        for command in ("summary", "table", "tree", "stats", "parse"):
            text = self.memprof(command, capture)
            self.assertRegex(text, r"sampled:? +one block per 4\.0 KiB on average", command)
            self.assertIn("±", text, command)
            self.assertNotIn("every event was counted", text, command)
        self.assertIn("estimates: sampled, one block per 4.0 KiB",
                      self.memprof("transform", "folded", capture))
        stats = self.stats()
        self.assertEqual(stats["tracker"]["sample_bytes"], 4096)
        for figure in ("peak", "leaked", "total"):
            self.assertGreater(stats[figure]["standard_error"]["bytes"], 0)
        page = self.memprof("flamegraph", capture).strip()
        with open(page, encoding="utf-8") as file:
            self.assertIn('"sampled":{"bytes":4096', file.read())

    def test_an_exact_run_says_nothing_of_samples(self):
        for flags in ([], ["--sample", "0"]):
            self.assertEqual(self.profile([SUMS], flags).returncode, 0)
            for command in ("summary", "table", "tree", "stats", "parse"):
                text = self.memprof(command, self.path("x.memprof"))
                self.assertNotIn("±", text)
                self.assertNotIn("sampled:", text)
            profile = self.sites()
            self.assertEqual(profile["tracker"]["sample_bytes"], 0)
            self.assertNotIn("standard_error", json.dumps(profile))
            self.assertNotIn("sizes", profile["sites"][0])

    def test_a_distance_that_is_none_is_refused_in_one_line(self):
        for distance in ("", "x", "-1", "512Q", "2G", "1e99"):
            done = harness.run([harness.MEMPROF, "run", f"--sample={distance}", "true"],
                               cwd=self.directory)
            self.assertEqual(done.returncode, 125, distance)
            self.assertEqual(done.stderr.decode().count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
