#!/usr/bin/env python3
"""Other allocators under the program, preloaded as their users do it: the same exact answers, since
the figure is what was asked for and not what an allocator rounds it to."""
import glob
import os
import sys
import unittest

import harness
from known_answer_test import KnownAnswerTest

LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc.so.4",
             "mimalloc": "libmimalloc.so.2.0"}
# Those whose answer hangs on glibc's own ways (__libc_malloc, the bytes that are usable, NULL from
# realloc(p, 0), pvalloc, which jemalloc hasn't and can't free) are left out.
PROGRAMS = ("containers.cc", "operators.cc", "peak_sawtooth.c", "peak_threads.c",
            "random_walk.c", "random_walk_threads.cc", "short_threads.c", "leaky_service.cc")


def find(library):
    found = glob.glob(f"/usr/lib/x86_64-linux-gnu/{library}")
    return found[0] if found else None


class AllocatorsTest(unittest.TestCase):
    def agree(self, allocator):
        library = find(LIBRARIES[allocator])
        if library is None:
            self.skipTest(f"{LIBRARIES[allocator]} is not installed")
        for name in PROGRAMS:
            with self.subTest(program=name):
                test = KnownAnswerTest("test_agrees_with_its_answer")
                test.source_file = os.path.join(harness.SOURCES, name)
                test.setUp()
                self.addCleanup(test.doCleanups)
                # What the allocator's library itself allocates is not the program's.
                test.answer.lines.pop("WHOLE", None)
                os.environ["LD_PRELOAD"] = library
                self.addCleanup(os.environ.pop, "LD_PRELOAD", None)
                try:
                    test.check_case({})
                finally:
                    os.environ.pop("LD_PRELOAD")

    def test_jemalloc(self):
        self.agree("jemalloc")

    def test_tcmalloc(self):
        self.agree("tcmalloc")

    def test_mimalloc(self):
        self.agree("mimalloc")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2, defaultTest="AllocatorsTest"))
