#!/usr/bin/python3
"""Programs in which the tracker can have no more memory, or may make no system call, end as without it, and
in about the time."""
import os
import subprocess
import unittest

import harness

PROGRAM = os.path.join(harness.PROGRAMS, "forbidden_calls")
MMAP, MPROTECT, MUNMAP = "9", "10", "11"
LIMIT = 30  # seconds; a twentieth is enough, and without end is what it was
WAYS = [["filter"], ["filter", MMAP, MUNMAP], ["filter", MMAP, MPROTECT], ["filter", MPROTECT, MUNMAP],
        ["filter", MMAP, MUNMAP, MPROTECT], ["strict"], ["dispatch"], ["mappings"], ["space"]]


class ForbiddenCallsTest(harness.MemprofTest):
    def test_the_program_notices_nothing(self):
        for way in WAYS:
            with self.subTest(way):
                command = [PROGRAM, *way]
                bare = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False)
                if bare.returncode == 77:
                    continue  # this kernel can't
                run = subprocess.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), "--", *command],
                                     capture_output=True, timeout=LIMIT, check=False)
                self.assertEqual((run.returncode, run.stdout), (bare.returncode, bare.stdout), run.stderr)
                self.assertEqual(run.stdout, b"done\n")
                # Each is counted, or said not to be.
                stats = self.stats()
                counted = stats["total"]["allocations"] + stats["tracker"]["dropped_events"]
                self.assertGreaterEqual(counted, 20700)


if __name__ == "__main__":
    unittest.main()
