#!/usr/bin/python3
"""The tracker asks an allocator for its figures only if that neither waits nor reads the program's
blocks: glibc never, the others while there is one thread, which is outside of them."""
import os
import unittest

import harness


def program(name):
    return os.path.join(harness.PROGRAMS, name)


class AskedAllocatorTest(harness.MemprofTest):
    def does_the_same(self, command, status, flags=()):
        bare = self.bare(command, timeout=60)
        self.assertEqual(bare.returncode, status, bare.stderr)
        profiled = self.profile(command, flags, timeout=60)
        self.assertEqual((profiled.returncode, profiled.stdout, profiled.stderr),
                         (bare.returncode, bare.stdout, bare.stderr))
        return self.stats()["memory"]

    def assert_untold(self, memory, provider):
        self.assertEqual(memory["allocator_last"]["provider"], provider)
        for figure in ("allocated_bytes", "cached_bytes", "free_bytes", "metadata_bytes"):
            self.assertIsNone(memory["allocator_last"][figure])

    def test_a_damaged_heap_that_does_no_harm_does_none(self):
        for case in ("fastbin", "bin"):
            for flags in ((), ("--sample", "16")):
                with self.subTest(case=case, flags=flags):
                    memory = self.does_the_same([program("damaged_heap"), case], 0, flags)
                    self.assert_untold(memory, "glibc")

    def test_nobody_waits_for_a_lock_of_glibcs(self):
        for case, status in (("thread", 0), ("handler", 4)):
            with self.subTest(case):
                self.assert_untold(self.does_the_same([program("stops_in_trim"), case], status), "glibc")

    def test_nobody_waits_for_another_allocators_lock(self):
        for case, status in (("stopped", 0), ("ended", 0), ("left", 0), ("exits", 4), ("exits_ctl", 4)):
            with self.subTest(case):
                self.does_the_same([program("asked_allocator"), case], status)

    def test_with_one_thread_it_is_asked(self):
        memory = self.does_the_same([program("asked_allocator"), "answers"], 0)
        said = memory["allocator_last"]
        self.assertEqual(said["provider"], "jemalloc")
        self.assertGreaterEqual(said["allocated_bytes"], 1 << 20)
        self.assertIn("jemalloc said at", self.memprof("stats", self.path("x.memprof")))

    def test_with_threads_it_is_not_and_the_report_says_so(self):
        memory = self.does_the_same([program("asked_allocator"), "stopped"], 0)
        self.assert_untold(memory, "jemalloc")
        self.assertIn("jemalloc wasn't asked", self.memprof("stats", self.path("x.memprof")))
        self.assertIn("allocator_other", memory["last"]["parts"])
        for sample in memory["samples"]:
            self.assertEqual(sum(sample["parts"].values()), sample["rss_bytes"])

    def test_without_its_word_glibcs_part_is_one_line(self):
        self.does_the_same([program("damaged_heap"), "bin"], 0)
        text = self.memprof("stats", self.path("x.memprof"))
        self.assertIn("rounding, headers, free blocks and pages that the allocator keeps", text)
        self.assertIn("glibc is never asked", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
