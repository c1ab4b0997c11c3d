#!/usr/bin/python3
"""The nightly job of docs/nightly.md, with memprof installed: a good night keeps its capture, and a
planted regression fails with one screen that names the function."""
import os
import shutil
import unittest

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREEN = 24  # lines of memprof's


class NightlyTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        prefix = self.path("prefix")
        installed = harness.run(["cmake", "--install", harness.BUILD, "--prefix", prefix])
        self.assertEqual(installed.returncode, 0, installed.stderr.decode())
        if not os.path.exists(os.path.join(prefix, "lib", "cmake", "memprof")):
            self.skipTest("this build has no CMake package")
        shutil.copytree(os.path.join(ROOT, "docs", "nightly"), self.path("wordstore"))
        self.environment = dict(os.environ, CMAKE_PREFIX_PATH=prefix, COLUMNS="90",
                                PATH=os.path.join(prefix, "bin") + ":" + os.environ["PATH"])

    def night(self, *options):
        done = self.bare(["./wordstore/nightly.sh", "wordstore", "build", "kept", *options],
                         env=self.environment)
        return done.returncode, done.stdout.decode()

    def test_a_planted_regression_ends_the_job_and_is_named(self):
        kept = self.path("kept/wordstore.memprof")
        status, text = self.night()
        self.assertEqual(status, 0, text)
        self.assertEqual(self.night()[0], 0)  # against that baseline
        with open(kept, "rb") as file:
            good = file.read()
        status, text = self.night("-DPLANT_REGRESSION=ON")
        self.assertEqual(status, 1, text)
        self.assertNotIn("is not here", text)  # that a baseline's build is gone is the usual case
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if "over budget in" in line)
        end = next(i for i, line in enumerate(lines) if line.startswith("memprof: over budget"))
        self.assertLessEqual(end - start, SCREEN, text)
        self.assertRegex(lines[start + 1], r"^over  the program: leaked 2\.4 MiB")
        self.assertRegex(lines[start + 4],
                         r"^ +2\.4 MiB +100\.0% +\+2\.4 MiB +Index::Remember\(char const\*\) ")
        with open(kept, "rb") as file:
            self.assertEqual(file.read(), good)
        with open(self.path("build/memory.xml"), encoding="utf-8") as file:
            self.assertIn("Index::Remember", file.read())
        status, text = self.night()  # the regression is taken back
        self.assertEqual(status, 0, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
