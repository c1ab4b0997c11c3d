#!/usr/bin/env python3
"""Other allocators under the program, preloaded as their users do it: the same exact answers, since
the figure is what was asked for and not what an allocator rounds it to. jemalloc has a test of its
own for each program: KnownAnswerJemalloc."""
import os
import unittest

import harness
import known_answer_test

# Those whose answer hangs on glibc's own ways (__libc_malloc, the bytes that are usable, NULL from
# realloc(p, 0), pvalloc) are left out.
PROGRAMS = ("containers.cc", "operators.cc", "peak_sawtooth.c", "peak_threads.c",
            "random_walk.c", "random_walk_threads.cc", "short_threads.c", "leaky_service.cc")


class AllocatorsTest(unittest.TestCase):
    def agree(self, allocator, source):
        with self.subTest(program=source):
            test = known_answer_test.KnownAnswerTest("test_agrees_with_its_answer")
            test.source_file = os.path.join(harness.SOURCES, source)
            test.allocator = allocator
            test.preload = known_answer_test.library_of(allocator)
            test.setUp()
            self.addCleanup(test.doCleanups)
            # What the allocator's library allocates with itself (tcmalloc: 24 bytes) isn't the program's.
            test.answer.lines.pop("WHOLE", None)
            test.check_cases()

    def test_tcmalloc(self):
        for source in PROGRAMS:
            self.agree("tcmalloc", source)

    def test_mimalloc(self):
        for source in PROGRAMS:
            self.agree("mimalloc", source)


if __name__ == "__main__":
    unittest.main(verbosity=2)
