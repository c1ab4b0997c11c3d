"""The installed package, used by a separate project (tests/package) outside any tree of ours."""
import os
import re
import shutil
import subprocess
import unittest

from harness import BUILD, MemprofTest, run

PROJECT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "package")
# The compilers have to find no more than what is installed.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("MEMPROF_")}


class Package(MemprofTest):
    def setUp(self):
        super().setUp()
        # Installed in one place and moved to another, which LD_PRELOAD can't name.
        self.must(["cmake", "--install", BUILD, "--prefix", self.path("installed")])
        self.prefix = self.path("moved to")
        os.rename(self.path("installed"), self.prefix)

    def must(self, command):
        done = run(command, cwd=self.directory, env=ENVIRONMENT, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, capture_output=False, timeout=300)
        text = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, text)
        return text

    def built(self, *options, target="all"):
        self.must(["cmake", "-S", PROJECT, "-B", "b", f"-DCMAKE_PREFIX_PATH={self.prefix}", *options])
        self.must(["cmake", "--build", "b", "--target", target])

    def ctest(self, name):
        """Runs one test of the project: whether it passed, and what it printed."""
        done = run(["ctest", "--test-dir", "b", "-V", "-R", f"^{name}$", "--no-tests=error"],
                   cwd=self.directory, env=ENVIRONMENT)
        text = done.stdout.decode(errors="replace")
        self.assertIn("tests passed", text)
        return done.returncode == 0, text

    def test_a_project_that_finds_it_has_its_tests(self):
        self.built()
        passed, text = self.ctest("soak_within")
        self.assertTrue(passed, text)
        capture = self.path("b/soak_within.memprof")
        self.assertIn("1000 B", run([self.prefix + "/bin/memprof", "summary", capture]).stdout.decode())

        passed, text = self.ctest("soak_over")
        self.assertFalse(passed, text)
        for part in ("2.0 KiB", "2.9 KiB", "parse_all", "soak.c:"):
            self.assertIn(part, text)
        self.assertLess(text.count("\n"), 80, text)

        passed, text = self.ctest("soak_ends_badly")
        self.assertFalse(passed, text)
        self.assertIn("within budget", text)

        passed, text = self.ctest("parser_within")
        self.assertTrue(passed, text)

        passed, text = self.ctest("parser_over")
        self.assertFalse(passed, text)
        self.assertIn("the heap grew by 1.5 KiB (1,500 B), 500 B over the limit of 1000 B", text)
        self.assertRegex(text, r"Parse(\(unsigned long\))? +\S*parser_test.cc:6\n")

        passed, text = self.ctest("parser_unwatched")
        self.assertTrue(passed, text)

        passed, text = self.ctest("parser_benchmark")
        self.assertTrue(passed, text)
        self.assertTrue(os.path.exists(self.path("b/benchmark.memprof")))

    def test_a_limit_that_is_required_fails_unwatched(self):
        self.built("-DMEMPROF_REQUIRED=ON", target="parser_test")
        passed, text = self.ctest("parser_unwatched")
        self.assertFalse(passed, text)
        self.assertIn("memprof does not watch this process", text)

    def test_a_mistake_in_a_test_is_said_when_it_is_configured(self):
        for mistake, why in {"NAME x TARGET soak": "needs a BUDGET",
                             "NAME x TARGET nothing BUDGET y": "no target 'nothing'",
                             "TARGET soak BUDGET y": "needs a NAME",
                             "NAME x TARGET soak BUDGET y BUGDET z": "what is meant by 'BUGDET z'"
                             }.items():
            project = self.path("mistaken")
            shutil.rmtree(project, ignore_errors=True)
            os.mkdir(project)
            with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                file.write("cmake_minimum_required(VERSION 3.16)\nproject(mistaken C)\n"
                           "find_package(memprof REQUIRED)\nadd_custom_target(soak)\n"
                           f"memprof_add_budget_test({mistake})\n")
            done = run(["cmake", "-S", project, "-B", project + "/b",
                        f"-DCMAKE_PREFIX_PATH={self.prefix}"], env=ENVIRONMENT)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, re.sub(r"\s+", " ", done.stderr.decode()))

    def test_pkg_config_has_the_headers_where_the_prefix_is(self):
        flags = run(["pkg-config", "--cflags", "--libs", "memprof"],
                    env={**ENVIRONMENT, "PKG_CONFIG_PATH": self.prefix + "/lib/pkgconfig"})
        self.assertEqual(flags.returncode, 0, flags.stderr)
        self.must(["sh", "-c", "cc -o soak '" + PROJECT + "/soak.c' "
                   + flags.stdout.decode().strip()])


if __name__ == "__main__":
    unittest.main()
