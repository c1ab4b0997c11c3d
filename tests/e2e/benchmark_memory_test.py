"""Memory in Google Benchmark's report (tests/aggregator/client/memory_benchmarks.cc)."""
import json
import os
import unittest

from harness import BUILD, MemprofTest

PROGRAM = os.path.join(BUILD, "tests", "programs", "client", "memory_benchmarks")
FIGURES = ("allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth")


class BenchmarkMemory(MemprofTest):
    def figures(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["name"].split("/")[0]: [row.get(figure) for figure in FIGURES]
                for row in json.loads(done.stdout)["benchmarks"]}

    def test_figures_are_the_programs_own_to_the_byte(self):
        figures = self.figures(self.profile([PROGRAM, "--benchmark_format=json"]))
        self.assertEqual(figures, {"BM_GivesBack": [3, 300, 16 * 600, 0],
                                   "BM_Keeps": [1, 160, 160, 160],
                                   "BM_AllocatesNothing": [0, 0, 0, 0]})

    def test_without_the_tracker_there_are_no_figures(self):
        figures = self.figures(self.bare([PROGRAM, "--benchmark_format=json"]))
        self.assertEqual(set(sum(figures.values(), [])), {None})


if __name__ == "__main__":
    unittest.main()
