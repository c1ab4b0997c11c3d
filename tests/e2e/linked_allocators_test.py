#!/usr/bin/python3
"""Programs that are linked with another allocator (-ltcmalloc, -lmimalloc, -ljemalloc): the same exact
answers, and the allocator's own statistics."""
import glob
import os
import re
import unittest

import harness
import known_answer_test


class LinkedAllocatorsTest(unittest.TestCase):
    def agree(self, allocator):
        build = f"linked_{allocator}_"
        names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(harness.PROGRAMS, build + "*")))
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            with self.subTest(program=name):
                test = known_answer_test.KnownAnswerTest("test_agrees_with_its_answer")
                test.program = name
                test.source_file, = glob.glob(os.path.join(harness.SOURCES, name[len(build):] + ".c*"))
                test.allocator = allocator
                test.setUp()
                self.addCleanup(test.doCleanups)
                # Allocations of the allocator and its libraries are not the program's.
                test.answer.lines.pop("WHOLE", None)
                test.check_cases()
                stats = test.stats()
                said = stats["memory"]["allocator_last"]
                self.assertEqual(said["provider"], allocator)
                with open(test.source_file, encoding="utf-8") as file:
                    threads = re.search(r"pthread_create|std::thread", file.read())
                if threads or allocator == "mimalloc":  # which says nothing of blocks
                    self.assertIsNone(said["allocated_bytes"])
                else:
                    self.assertGreaterEqual(said["allocated_bytes"], stats["leaked"]["bytes"])

    def test_tcmalloc(self):
        self.agree("tcmalloc")

    def test_mimalloc(self):
        self.agree("mimalloc")

    def test_jemalloc(self):
        self.agree("jemalloc")


if __name__ == "__main__":
    unittest.main(verbosity=2)
