"""Limits of memory in a GoogleTest program (tests/aggregator/client/limited_tests.cc)."""
import json
import os
import shutil
import unittest

from harness import BUILD, MEMPROF, MemprofTest, run

PROGRAM = os.path.join(BUILD, "tests", "programs", "client", "limited_tests")
SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "aggregator",
                      "client", "limited_tests.cc")
LONGEST = 40  # lines of a failure


def line_of(text):
    with open(SOURCE, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


class TestLimits(MemprofTest):
    def read(self):
        """Of every test its failures; the program's report is r.json."""
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        return {f"{suite['name']}.{test['name']}": [f["failure"] for f in test.get("failures", [])]
                for suite in report["testsuites"] for test in suite["testsuite"]}

    def failures(self, flags=(), pattern="*", **options):
        self.profile([PROGRAM, "--gtest_output=json:r.json", "--gtest_filter=" + pattern],
                     flags, **options)
        return self.read()

    def test_exactly_the_tests_over_a_limit_fail(self):
        for name, failures in self.failures().items():
            with self.subTest(name):
                self.assertEqual(len(failures), 1 if name.endswith("Fails") else 0, failures)

    def test_a_failure_has_limit_figure_excess_and_the_guilty_function_with_its_line(self):
        failures = self.failures()
        for test, wanted in {
            "Peak.OverFails": [
                'MEMPROF_LIMIT_PEAK("24 kB"): the heap grew by 30.0 KiB (30,720 B), 6.0 KiB over '
                "the limit of 24.0 KiB:\n",
                "  30.0 KiB in 1 block\n", "HoldAtOnce", f"limited_tests.cc:{line_of('void HoldAtOnce')}\n",
                "Peak_OverFails_Test::TestBody"],
            "Peak.OfManyPlacesFails": ["the heap grew by 11.8 KiB (12,050 B)",
                                       "  4.9 KiB in 1 block, 41.5%\n", "50 B in 2 blocks at 2 other"],
            "Leaks.OverFails": [
                "MEMPROF_LIMIT_LEAKS(0): 2.0 KiB (2,000 B) in 2 blocks leaked, 2.0 KiB over the "
                "limit of 0 B:\n", "Forget"],
            "Leaks.OfAnEnlargedBlockFails": ["1 B leaked, 1 B over the limit of 0 B", "\n  1 B\n"],
            "Leaks.OfNoBytesFails": ["0 B in 1 block leaked, and the limit is no block"],
            "Leaks.OfALargerEntryFails": ["40 B leaked, 40 B over the limit of 0 B", "Cache::Put",
                                          "  less 500 B in 1 block that these functions had before"],
            "Leaks.BesideMemoryGivenBackFails": ["99 B in 1 block leaked, 99 B over", "Forget"],
            "Leaks.BesideGoogleTestsOwnFails": ["77 B in 1 block leaked, 77 B over"],
            "Allocations.OverFails": ["1,011 allocations, 1,001 over the limit of 10:\n",
                                      "9.9 KiB in 1,011 blocks\n", "AllocateOften"],
            "Threads.AllocationsOfAnotherFails": ["AllocateOften"],
            "Threads.OwnAllocationsFails": ["51 allocations of this thread, 1 over the limit of 50",
                                            "AllocateOften"],
            "Threads.PeakOfAnotherFails": ["HoldAtOnce"],
            "Threads.OwnPeakFails": ["the heap of this thread grew by 64.0 KiB (65,537 B), 1 B over"],
            "Threads.LeakOfAnotherFails": ["123 B in 1 block leaked, 123 B over the limit of 0 B"],
            "Threads.OwnLeakFails": ["321 B of this thread leaked"],
            "Nested.InnerAloneFails": ["MEMPROF_LIMIT_PEAK(1000)", "grew by 2.0 KiB (2,000 B), 1000 B"],
            "Nested.OuterAloneFails": ["MEMPROF_LIMIT_PEAK(1500)", "grew by 2.0 KiB (2,000 B), 500 B"],
            "Refused.TextFails": ["that is no size"],
            "Refused.NegativeFails": ["a limit is at least 0"],
        }.items():
            with self.subTest(test):
                text = failures[test][0]
                for part in wanted:
                    self.assertIn(part, text)
                self.assertLess(text.count("\n"), LONGEST)
                for hidden in ("libmemprof", "malloc", "testing::", "__libc_start"):
                    self.assertNotIn(hidden, text)

    def test_without_the_tracker_limits_are_not_checked(self):
        self.bare([PROGRAM, "--gtest_output=json:r.json"])
        for name, failures in self.read().items():
            self.assertEqual(len(failures), 1 if name.startswith("Refused.") else 0, name)

    def test_without_the_tracker_limits_fail_where_they_are_required(self):
        self.bare([PROGRAM, "--gtest_output=json:r.json"], env={**os.environ, "MEMPROF_REQUIRED": "1"})
        for name, failures in self.read().items():
            self.assertTrue(failures, name)
            if not name.startswith("Refused."):
                self.assertIn("memprof does not watch this process, and MEMPROF_REQUIRED is set",
                              failures[0])

    def test_required_changes_nothing_where_the_tracker_is(self):
        failures = self.failures(pattern="*Passes", env={**os.environ, "MEMPROF_REQUIRED": "1"})
        self.assertEqual([name for name in failures if failures[name]], [])

    def test_a_failure_is_named_by_the_loader_where_memprof_cannot_be_run(self):
        installed = self.path("installed")
        for part in ("bin/memprof", "lib/memprof/libmemprof_preload.so"):
            os.makedirs(os.path.dirname(os.path.join(installed, part)), exist_ok=True)
            shutil.copy(os.path.join(BUILD, part), os.path.join(installed, part))
        memprof = os.path.join(installed, "bin", "memprof")
        script = f"rm {memprof}; exec {PROGRAM} --gtest_output=json:r.json --gtest_filter=Peak.O*"
        run([memprof, "run", "-q", "-o", self.path("x.memprof"), "--", "/bin/sh", "-c", script],
            cwd=self.directory)
        failures = self.read()
        self.assertIn("the heap grew by 30.0 KiB (30,720 B)", failures["Peak.OverFails"][0])
        self.assertIn("the memprof command could not be run", failures["Peak.OverFails"][0])
        self.assertIn("  30.0 KiB in 1 block\n", failures["Peak.OverFails"][0])

    def test_sampled_figures_are_called_so(self):
        failures = self.failures(["--sample", "64"], pattern="Peak.OverFails")
        self.assertIn("grew by about ", failures["Peak.OverFails"][0])

    def test_the_program_is_not_said_to_have_left_children(self):
        self.failures(pattern="Peak.OverFails")
        self.assertEqual(self.sites()["tracker"]["untracked_children"], 0)


if __name__ == "__main__":
    unittest.main()
