#!/usr/bin/python3
"""The tracker's figure for its own memory agrees with the kernel's for its mappings."""
import os
import subprocess
import sys
import time
import unittest

import harness

HOLDS_BLOCKS = os.path.join(harness.PROGRAMS, "holds_blocks")


def tracker_bytes_in_smaps(pid):
    """Resident bytes of the tracker's mappings: its library with its zeroed data behind it, the
    region, and its anonymous memory, which alone is marked both as not to be dumped and as (not)
    huge."""
    total = 0
    with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as smaps:
        resident, ours, end_of_library = 0, False, ""
        for line in smaps:
            word = line.split()
            if line[0] in "0123456789abcdef" and "-" in word[0]:
                start, end = word[0].split("-")
                anonymous = len(word) < 6
                of_library = "/libmemprof_" in line or (anonymous and start == end_of_library)
                if of_library:
                    end_of_library = end
                ours = "memprof-region" in line or of_library
            elif word[0] == "Rss:":
                resident = int(word[1]) * 1024
            elif word[0] == "VmFlags:":
                flags = set(word[1:])
                ours = ours or (anonymous and "dd" in flags and bool(flags & {"nh", "hg"}))
                total += resident if ours else 0
    return total


class OwnMemoryTest(harness.MemprofTest):
    def hold(self, blocks, size, threads):
        """(what the capture says, what smaps says) of a program that holds so much now."""
        with subprocess.Popen(
                [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--checkpoint",
                 "1", "--", HOLDS_BLOCKS, str(blocks), str(size), str(threads)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as supervisor:
            self.addCleanup(lambda: supervisor.poll() is None and supervisor.kill())
            self.assertEqual(supervisor.stdout.readline(), b"ready\n")
            with open(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children",
                      encoding="ascii") as file:
                pid = int(file.read().split()[0])
            seen = tracker_bytes_in_smaps(pid)
            supervisor.stdin.close()
            self.assertEqual(supervisor.wait(harness.TIMEOUT), 0)
        return self.stats()["tracker"]["bytes"], seen

    def agree(self, blocks, size, threads):
        said, seen = self.hold(blocks, size, threads)
        self.assertLess(abs(said - seen), 0.05 * seen, f"said {said}, smaps {seen}")
        return seen

    def test_with_few_blocks(self):
        self.assertLess(self.agree(100, 100, 1), 8 << 20)

    def test_with_a_million_blocks(self):
        # 32 bytes a block and 8 MiB.
        self.assertLess(self.agree(1000000, 100, 1), 32 * 1000000 + (8 << 20))

    def test_with_threads(self):
        self.agree(100000, 100, 50)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
