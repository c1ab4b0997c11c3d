#!/usr/bin/python3
"""Programs around jemalloc's extended interface: which ones get its hooks, and what a preloaded
jemalloc changes."""
import os
import unittest

import harness

JEMALLOC = "libjemalloc.so.2"
HOOKS = "libmemprof_jemalloc.so"


class JemallocTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ)
        self.environment.pop("LD_PRELOAD", None)

    def preloads(self, program="sh", preload=None):
        """LD_PRELOAD as the program sees it."""
        environment = dict(self.environment, **({"LD_PRELOAD": preload} if preload else {}))
        done = self.profile([program, "-c", "echo $LD_PRELOAD"], env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [os.path.basename(path) for path in done.stdout.decode().strip().split(":")]

    def finds(self, preload=None):
        program = os.path.join(harness.PROGRAMS, "mallocx_if_there")
        environment = dict(self.environment, **({"LD_PRELOAD": preload} if preload else {}))
        bare = self.bare([program], env=environment)
        profiled = self.profile([program], env=environment)
        self.assertEqual((bare.returncode, profiled.returncode), (0, 0))
        self.assertEqual(profiled.stdout, bare.stdout)
        return profiled.stdout.decode()

    def test_hooks_come_right_behind_the_tracker_where_jemalloc_is_preloaded(self):
        self.assertEqual(self.preloads(), ["libmemprof_preload.so"])
        self.assertEqual(self.preloads(preload=JEMALLOC),
                         ["libmemprof_preload.so", HOOKS, JEMALLOC])

    def test_a_program_that_looks_for_jemalloc_finds_what_is_there(self):
        self.assertEqual(self.finds(), "no mallocx\n")
        self.assertEqual(self.finds(preload=JEMALLOC), "mallocx\n")

    def test_a_preloaded_jemalloc_is_counted(self):
        program = os.path.join(harness.PROGRAMS, "mallocx_if_there")
        environment = dict(self.environment, LD_PRELOAD=JEMALLOC)
        done = self.profile([program, "use"], env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        # 14 alignments of every size: a mallocx, an xallocx and a rallocx each.
        sizes, size = [], 0
        while size < 6000:
            sizes.append(size)
            size += 1 + size // 7
        wanted = 14 * sum(size + size + 2 * size + 1 for size in sizes)
        sites = [s for s in self.sites()["sites"]
                 if any(frame["function"] == "use" for frame in s["frames"])]
        self.assertEqual(sum(s["total"]["bytes"] for s in sites), wanted)
        self.assertEqual(sum(s["total"]["allocations"] for s in sites), 14 * 3 * len(sizes))
        self.assertEqual(sum(s["leaked"]["bytes"] for s in sites), 0)
        self.assertEqual({s["frames"][0]["function"] for s in sites}, {"use"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
