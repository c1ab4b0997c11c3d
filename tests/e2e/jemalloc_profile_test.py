#!/usr/bin/python3
"""run --jemalloc-prof: the sampled profile of a jemalloc inside the program that can't be hooked."""
import os
import signal
import subprocess
import unittest

import harness

SOURCE = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile kept;
static void small(void) {
  for (int i = 0; i < 200000; ++i) kept = malloc(100);
}
static void passing(void) {
  for (int i = 0; i < 2000; ++i) free(kept = malloc(100000));
}
static void large(void) {
  for (int i = 0; i < 20; ++i) kept = calloc(1, 1 << 20);
}
int main(int argc, char** argv) {
  small();
  passing();
  large();
  if (argc > 1 && *argv[1] == 'w') write(1, "ready\n", 6), pause();
  if (argc > 1 && *argv[1] == 'q') _exit(0);
  if (argc > 1 && *argv[1] == 'f' && fork() == 0) return 0;
  wait(NULL);
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
# Live at the end, and total: bytes of jemalloc's size classes, and blocks.
ANSWER = {"small": ((200000 * 112, 200000), (200000 * 112, 200000)),
          "passing": ((0, 0), (2000 * 114688, 2000)),
          "large": ((20 << 20, 20), (20 << 20, 20))}


class JemallocProfileTest(harness.MemprofTest):
    def build(self, *libraries, flags=()):
        with open(self.path("program.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        done = harness.run(["cc", "-g", "-O1", "-fno-builtin", "-fno-inline", "-w", *flags, "-o", self.path("program"),
                            self.path("program.c"), *libraries])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("program")

    def inside(self):
        """With a jemalloc inside that has no hooks."""
        archive = os.path.join(harness.PROGRAMS, "libinner_jemalloc.a")
        program = self.build(archive, "-lm", "-lpthread", flags=["-D%s=_rjem_%s" % (name, name)
                                                                 for name in ("malloc", "free", "calloc")])
        subprocess.run(["objcopy", "--redefine-sym", "experimental_hooks_install_ctl=another", program],
                       check=True)
        return program

    def sampled(self, command, *flags, status=0, **options):
        done = harness.run([harness.MEMPROF, "run", "--jemalloc-prof", "-o", self.path("x.memprof"), *flags, "--",
                            *command], cwd=self.directory, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr.decode()

    def assert_agrees(self, sample_bytes=524288):
        profile = self.sites()
        for figure in ("peak", "leaked", "total"):
            for unit in ("bytes", "allocations"):
                self.assertEqual(sum(site[figure][unit] for site in profile["sites"]), profile[figure][unit])
        self.assertEqual(profile["tracker"]["sample_bytes"], sample_bytes)
        self.assertEqual(profile["tracker"]["peak_bound_bytes"],
                         profile["total"]["bytes"] - profile["leaked"]["bytes"])
        for function, (live, total) in ANSWER.items():
            sites = [s for s in profile["sites"] if s["frames"] and s["frames"][0]["function"] == function]
            for figure, wanted in (("leaked", live), ("peak", live), ("total", total)):
                for unit, true in zip(("bytes", "allocations"), wanted):
                    got = sum(s[figure][unit] for s in sites)
                    error = sum(s[figure]["standard_error"][unit] ** 2 for s in sites) ** 0.5
                    # Six standard errors: once in a billion runs. What is sure to be sampled is exact.
                    self.assertLessEqual(abs(got - true), 6 * error + true // 1000, f"{function} {figure} {unit}")
                    if true == 0:
                        self.assertEqual(got, 0, f"{function} {figure} {unit}")

    def test_one_inside_the_program_that_has_no_hooks(self):
        said = self.sampled([self.inside(), "3"], status=3)
        self.assertIn("by jemalloc's own samples", said)
        self.assertIn("≈", said)
        self.assert_agrees()
        self.assertEqual(self.sites()["end"], {"kind": "exit", "code": 3})
        for report in (["summary", "--leaks"], ["stats"]):
            text = self.memprof(*report, self.path("x.memprof"))
            self.assertIn("one block per 512.0 KiB on average", text)
            self.assertRegex(text, "the peak of the estimates, .*is known to within")
            self.assertIn("±", text)

    def test_a_linked_one_and_another_distance(self):
        self.sampled([self.build("-ljemalloc")], "--sample", "100K")
        self.assert_agrees(65536)

    def test_a_stripped_program_has_its_figures(self):
        program = self.inside()
        subprocess.run(["strip", "-s", program], check=True)
        self.sampled([program])
        profile = self.sites()
        true = sum(live[0] for live, _ in ANSWER.values())
        self.assertLessEqual(abs(profile["leaked"]["bytes"] - true), 6 * profile["leaked"]["standard_error"]["bytes"])

    def test_the_users_options_stay(self):
        environment = dict(os.environ, MALLOC_CONF="stats_print:true")
        self.assertIn("Begin jemalloc statistics", self.sampled([self.inside()], "-q", env=environment))
        self.assert_agrees()

    def test_what_leaves_no_profile_is_said_on_the_last_line(self):
        peak = os.path.join(harness.PROGRAMS, "peak_sawtooth")
        for command, status, why in (([peak], 125, "built without"), ([self.inside(), "q"], 125, "_exit")):
            said = self.sampled(command, "-q", status=status)
            self.assertRegex(said.splitlines()[-1], "^memprof: no capture: .*" + why)
            self.assertFalse(os.path.exists(self.path("x.memprof")))

    def test_a_signal_is_forwarded_and_ends_it_without_a_profile(self):
        with subprocess.Popen([harness.MEMPROF, "run", "--jemalloc-prof", "-o", self.path("x.memprof"), "--",
                               self.inside(), "w"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), b"ready\n")
            run.send_signal(signal.SIGTERM)
            said = run.communicate(timeout=harness.TIMEOUT)[1].decode()
        self.assertEqual(run.returncode, 143)
        self.assertIn("ended by SIGTERM", said.splitlines()[-1])

    def test_profiles_of_children_are_named_and_nothing_is_left_behind(self):
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.path("run"))
        os.mkdir(self.path("run"))
        said = self.sampled([self.inside(), "f"], env=environment)
        self.assertIn("of child processes are not read", said)
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_options_of_the_tracker_and_what_is_there_already_are_refused(self):
        peak = os.path.join(harness.PROGRAMS, "peak_sawtooth")
        self.assertIn("--exact-peak is for", self.sampled([peak], "--exact-peak", status=125))
        self.assertIn("--region is for", self.sampled([peak], "--region", "x.region", status=125))
        with open(self.path("x.memprof"), "wb"):
            pass
        self.assertIn("x.memprof", self.sampled([peak], status=125))
        self.assertIn("not found", self.sampled(["no-such-program"], status=127))


if __name__ == "__main__":
    unittest.main(verbosity=2)
