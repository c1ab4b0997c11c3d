#!/usr/bin/env python3
"""Programs that are started through the loader ("ld-linux-x86-64.so.2 ./program", as bundled applications
are): the same names and figures, and none of the program's is taken for the loader's."""
import os
import shutil
import subprocess
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
LOADER = "/lib64/ld-linux-x86-64.so.2"


class StartedByLoaderTest(harness.MemprofTest):
    def rows(self, capture):
        """What each place of the program has; the loader's own records differ."""
        return sorted((str([(frame["function"], frame["line"]) for frame in site["frames"]]),
                       str(site["peak"]), str(site["leaked"]), str(site["total"]))
                      for site in self.sites(capture)["sites"] if "runtime" not in site)

    def child(self):
        name, = [name for name in os.listdir(self.directory)
                 if name.endswith(".memprof") and name not in ("x.memprof", "x.all.memprof")]
        return name

    def leak(self, capture="x.memprof"):
        said = self.memprof("summary", "--leaks", self.path(capture))
        self.assertTrue(said.startswith("leaky_service "), said)
        self.assertRegex(said, r"244\.1 KiB .* RememberUser\(char const\*\) +leaky_service\.cc:\d+")

    def test_a_child_s_leaks_are_its_own(self):
        with open(self.path("none.toml"), "w", encoding="ascii") as budget:
            budget.write("[budget]\nleaked = 0\n")
        self.profile(["sh", "-c", f"{LEAKY}; exit 0"], [harness.EACH])
        by_itself = self.rows(self.child())
        os.remove(self.path(self.child()))
        self.profile(["sh", "-c", f"{LOADER} {LEAKY}; exit 0"], [harness.EACH])
        self.assertEqual(self.rows(self.child()), by_itself)
        self.assertRegex(self.memprof("summary", "--leaks", self.child()),
                         r"244\.1 KiB .* RememberUser\(char const\*\) +leaky_service\.cc:\d+")
        for capture in (self.child(), "x.all.memprof"):
            self.memprof("check", capture, "--budget", "none.toml", status=1)

    def test_so_are_those_of_what_is_executed(self):
        self.profile(["sh", "-c", f"exec {LOADER} --library-path /nowhere {LEAKY}"])
        self.leak()

    def test_and_without_a_supervisor(self):
        environment = self.memprof("env", "-o", self.path("x.memprof"))
        done = self.bare(["sh", "-c", f"{environment}\ncd /\nexec {LOADER} {LEAKY}"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.leak()

    def test_a_program_has_the_figures_that_it_has_by_itself(self):
        for name in ("leaky_service", "containers", "operators", "temporaries"):
            with self.subTest(program=name):
                path = os.path.join(harness.PROGRAMS, name)
                bare = self.bare([path])
                self.assertEqual(self.profile([path]).returncode, bare.returncode)
                by_itself = self.rows("x.memprof")
                done = self.profile([LOADER, path])
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (bare.returncode, bare.stdout, bare.stderr))
                self.assertEqual(self.rows("x.memprof"), by_itself)
        self.assertEqual(self.stats()["program"], "temporaries")

    def test_the_loader_s_options_come_before_it(self):
        shutil.copy(LEAKY, self.path("leaky_service"))
        shutil.copy(LOADER, self.path("bundled-loader"))
        for command in (["--library-path", "/nowhere", "./leaky_service"],
                        ["--inhibit-cache", "--argv0", "called", "./leaky_service"],
                        ["--preload", "libm.so.6", "./leaky_service"]):
            with self.subTest(command=command):
                done = harness.run([harness.MEMPROF, "run", LOADER, *command], cwd=self.directory)
                self.assertEqual(done.returncode, 0, done.stderr)
                capture, = [name for name in os.listdir(self.directory) if name.endswith(".memprof")]
                self.assertRegex(capture, r"^leaky_service\.\d+\.memprof$")
                self.leak(capture)
                os.remove(self.path(capture))
        self.assertEqual(self.profile(["./bundled-loader", "./leaky_service"]).returncode, 0)
        self.leak()

    def test_an_executed_image_has_the_program_s_name(self):
        self.profile(["sh", "-c", f"exec {LOADER} {LEAKY}"])
        self.leak()

    def test_the_name_is_what_only_and_skip_go_by(self):
        self.profile(["sh", "-c", f"{LOADER} {LEAKY}; exit 0"], flags=["--only", "leaky*", harness.EACH])
        self.assertEqual(len([name for name in os.listdir(self.directory)
                              if name.endswith(".memprof") and name != "x.all.memprof"]), 1)

    def test_doctor_and_env_look_at_what_is_started(self):
        said = self.memprof("doctor", "--", LOADER, LEAKY)
        self.assertRegex(said, rf"runs +{LEAKY}, by {LOADER}\n")
        self.assertRegex(said, r"libstdc\+\+\.so\.6")

    def test_what_it_cannot_start_is_said(self):
        static = self.path("static")
        with open(self.path("static.c"), "w", encoding="ascii") as source:
            source.write("int main(void) { return 0; }\n")
        subprocess.run(["gcc", "-static", "-o", static, self.path("static.c")], check=True)
        for arguments, status, says in (([], 125, "is the loader itself; name the program"),
                                        (["--list", LEAKY], 125, "starts no program with --list"),
                                        (["--argv0"], 125, "is the loader itself"),
                                        (["./missing"], 127, "missing: No such file"),
                                        ([self.path("static.c")], 126, "is no ELF file"),
                                        ([static], 125, "statically linked")):
            with self.subTest(arguments=arguments):
                done = harness.run([harness.MEMPROF, "run", LOADER, *arguments], cwd=self.directory)
                said = done.stderr.decode()
                self.assertEqual((done.returncode, said.count("\n")), (status, 1), said)
                self.assertIn(says, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
