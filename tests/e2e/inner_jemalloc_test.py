#!/usr/bin/python3
"""Programs with a jemalloc inside: the same exact answers as if it were interposed, and a warning
before the program starts if it can't be hooked."""
import glob
import os
import subprocess
import unittest

import harness
import known_answer_test
import many_symbols


HEAPS = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void* _rjem_malloc(size_t);
static void* volatile kept;
static void fresh_stack(int depth) {
  if (depth > 0) fresh_stack(depth - 1);
  kept = _rjem_malloc(0);  // an event, within jemalloc, at which the tracker may answer
}
int main(void) {
  for (int i = 0; i < 2000; ++i) kept = memset(_rjem_malloc(9000), 1, 9000);
  for (int i = 0; i < 1000; ++i) kept = memset(malloc(10000), 1, 10000);
  for (int i = 0; i < 100; ++i) {
    fresh_stack(i);
    usleep(10000);
  }
}
"""

# Nothing but mappings may answer what the supervisor asks every 16 ms at first.
ARENAS = r"""
#include <stddef.h>
#include <unistd.h>
int _rjem_mallctl(const char*, void*, size_t*, void*, size_t);
void* _rjem_malloc(size_t);
static void* volatile kept;
int main(void) {
  kept = _rjem_malloc(1);
  for (int i = 0; i < 100; ++i) {
    unsigned arena;
    size_t bytes = sizeof arena;
    usleep(5000);
    if (_rjem_mallctl("arenas.create", &arena, &bytes, NULL, 0) != 0) return 1;
  }
}
"""


class InnerJemallocTest(harness.MemprofTest):
    def agree(self, build):
        programs = sorted(glob.glob(os.path.join(harness.PROGRAMS, build + "_*")))
        names = [os.path.basename(path) for path in programs]
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            with self.subTest(program=name):
                test = known_answer_test.KnownAnswerTest("test_agrees_with_its_answer")
                stem = os.path.join(harness.SOURCES, name[len(build) + 1:])
                test.source_file = stem + (".c" if os.path.exists(stem + ".c") else ".cc")
                test.program = name
                test.setUp()
                self.addCleanup(test.doCleanups)
                # Libraries' constructors allocate before the tracker starts.
                test.answer.lines.pop("WHOLE", None)
                for case in list(test.answer.rows("CASE")) or [{}]:
                    test.check_case(case)

    def test_jemalloc_by_its_own_names(self):
        self.agree("inner")

    def test_prefixed_jemalloc(self):
        self.agree("prefixed")

    def loud(self, program):
        done = harness.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), "--", program],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def changed(self, *command):
        """A copy of a program with a jemalloc inside that the command has changed."""
        copy = self.path("copy")
        subprocess.run([*command, os.path.join(harness.PROGRAMS, "prefixed_peak_sawtooth"), "-o", copy]
                       if command[0] == "strip" else
                       [*command, os.path.join(harness.PROGRAMS, "prefixed_peak_sawtooth"), copy],
                       check=True)
        return copy

    def test_its_statistics_explain_the_rss(self):
        """A heap of jemalloc's beside one of glibc's, which isn't asked: so what both have given out isn't
        known, but what jemalloc keeps is."""
        with open(self.path("heaps.c"), "w", encoding="utf-8") as file:
            file.write(HEAPS)
        built = harness.run(["cc", "-g", "-O1", "-fno-builtin", "-o", self.path("heaps"), self.path("heaps.c"),
                             os.path.join(harness.PROGRAMS, "libinner_jemalloc.a"), "-lm", "-lpthread"])
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.profile([self.path("heaps")])
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = self.stats()
        memory = stats["memory"]
        inner, outer = 2000 * 10240, 1000 * 10000  # 9,000 bytes are 10,240 in jemalloc's classes
        self.assertEqual(stats["leaked"]["bytes"], 2000 * 9000 + outer)
        self.assertEqual(memory["allocator_last"]["provider"], "jemalloc")
        self.assertIsNone(memory["allocator_last"]["allocated_bytes"])
        for figure in ("cached_bytes", "free_bytes", "metadata_bytes"):
            self.assertLess(memory["allocator_last"][figure], inner)
        for sample in [memory["highest"], memory["last"], *memory["samples"]]:
            self.assertEqual(sum(sample["parts"].values()), sample["rss_bytes"], sample)
        parts = memory["last"]["parts"]
        self.assertGreaterEqual(parts["live"], 2000 * 9000 + outer)
        self.assertNotIn("rounding", parts)
        self.assertGreater(parts["metadata"], 0)
        self.assertLess(abs(parts["unexplained"]), 1 << 20)

    def test_an_arena_s_own_mapping_asks_jemalloc_nothing(self):
        """jemalloc makes an arena within the lock that its statistics take."""
        with open(self.path("arenas.c"), "w", encoding="ascii") as file:
            file.write(ARENAS)
        built = harness.run(["cc", "-g", "-O1", "-fno-builtin", "-o", self.path("arenas"), self.path("arenas.c"),
                             os.path.join(harness.PROGRAMS, "libinner_jemalloc.a"), "-lm", "-lpthread"])
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.profile([self.path("arenas")], timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stats()["tracker"]["dropped_events"], 0)

    def test_nothing_is_said_where_it_is_hooked(self):
        said = self.loud(os.path.join(harness.PROGRAMS, "prefixed_peak_sawtooth"))
        self.assertNotIn("jemalloc", said)

    def test_a_stripped_one_is_warned_of_first(self):
        said = self.loud(self.changed("strip", "-s"))
        self.assertIn("no symbols to hook it by", said.splitlines()[0])

    def test_one_without_hooks_is_warned_of_first(self):
        said = self.loud(self.changed("objcopy", "--redefine-sym",
                                      "experimental_hooks_install_ctl=another"))
        self.assertIn("can't be hooked", said.splitlines()[0])
        self.assertIn("--jemalloc-prof", said.splitlines()[0])

    def test_a_file_of_100_mb_with_half_a_million_symbols_is_read_while_its_tracker_waits(self):
        for program in ("peak_sawtooth", "prefixed_peak_sawtooth"):
            with self.subTest(program=program):
                copy = self.path(program)
                many_symbols.write(os.path.join(harness.PROGRAMS, program), copy, 500000, 100_000_000)
                # Nine processes execute it, so that it is read more than once or known.
                done = self.profile(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do {copy}; done; exec {copy}"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr, b"")
                capture = self.path("x.all.memprof")
                self.assertEqual(self.stats(capture)["total"]["allocations"] // 60301, 9)
                os.remove(copy)

    def test_one_that_refuses_is_named_at_the_end(self):
        said = self.loud(os.path.join(harness.PROGRAMS, "refuses_hooks"))
        self.assertIn("refused our hooks", said)

    def test_a_large_block_is_sampled_once(self):
        """Blocks far above the distance always are; one that two sources told of would be there twice."""
        program = os.path.join(harness.PROGRAMS, "inner_jemalloc_functions")
        done = self.profile([program], ("--sample", "16"))
        self.assertEqual(done.returncode, 0, done.stderr)
        sites = [s for s in self.sites()["sites"] if s["frames"] and s["frames"][0]["function"] == "main"]
        sizes = {s["total"]["bytes"] for s in sites}
        self.assertIn(1048576, sizes)
        self.assertIn(262144, sizes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
