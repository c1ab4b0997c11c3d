#!/usr/bin/env python3
"""A descendant of another libc inherits our library, which must not change what it does."""
import os
import shutil
import subprocess
import unittest

import harness

SOURCE = os.path.join(harness.SOURCES, "other_libc.c")


@unittest.skipIf(shutil.which("musl-gcc") is None, "no musl-gcc")
class OtherLibcTest(harness.MemprofTest):
    def built(self, compiler, *flags):
        program = self.path("other")
        subprocess.run([compiler, "-O1", "-w", *flags, "-o", program, SOURCE, "-lpthread"], check=True)
        return program

    def outcome(self, done):
        return done.returncode, done.stdout, done.stderr

    def test_a_program_of_musl_does_what_it_does_bare(self):
        for flags in ((), ("-no-pie",), ("-Wl,-z,now",)):
            other = self.built("musl-gcc", *flags)
            command = ["sh", "-c", f"{other}; echo $?"]
            bare = self.bare(command)
            self.assertEqual(self.outcome(bare), (0, b"end\n7\n", b""))
            self.assertEqual(self.outcome(self.profile(command)), self.outcome(bare))

    def test_so_does_one_that_the_program_itself_becomes(self):
        done = self.profile(["sh", "-c", f"exec {self.built('musl-gcc')} 300"])
        self.assertEqual(self.outcome(done), (7, b"end\n", b""))
        (kind, name, count), = [(one["kind"], one["name"], one["count"]) for one in self.stats()["unseen"]]
        self.assertEqual((kind, name, count), ("executed", "other", 1))

    def test_one_beside_a_jemalloc(self):
        jemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
        if not os.path.exists(jemalloc):
            self.skipTest("no jemalloc")
        other = self.built("musl-gcc")
        library = os.path.join(harness.BUILD, "lib", "memprof", "libmemprof_jemalloc.so")
        command = ["sh", "-c", f"LD_PRELOAD=$LD_PRELOAD:{library} {other}; echo $?"]
        self.assertEqual(self.outcome(self.profile(command)), (0, b"end\n7\n", b""))

    def test_it_is_named_as_one_without_a_tracker(self):
        done = self.bare([harness.MEMPROF, "run", "-f", "-o", "x.memprof", "sh", "-c",
                          f"{self.built('musl-gcc')} 2500; exit 0"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(one["kind"], one["name"], one["count"]) for one in self.stats()["unseen"]],
                         [("processes", "other", 1)])
        self.assertRegex(done.stderr.decode(), r"ran without a tracker \(.*\): other")

    def test_the_same_program_of_our_libc_is_profiled(self):
        other = self.built("gcc")
        done = self.profile(["sh", "-c", f"{other}; echo $?"])
        self.assertEqual(self.outcome(done), (0, b"end\n7\n", b""))
        self.assertGreater(self.stats("x.all.memprof")["total"]["allocations"], 10000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
