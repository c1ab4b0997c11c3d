#!/usr/bin/env python3
"""Programs in which a preload has to be careful: each behaves as without memprof."""
import os
import unittest

import harness


def program(name):
    return os.path.join(harness.PROGRAMS, name)


class HostsTest(harness.MemprofTest):
    def does_the_same(self, command, flags=()):
        bare = self.bare(command, timeout=60)
        if bare.returncode == 77:
            self.skipTest("the program can't do its part on this machine")
        profiled = self.profile(command, flags, timeout=60)
        self.assertEqual((profiled.returncode, profiled.stdout), (bare.returncode, bare.stdout),
                         profiled.stderr.decode(errors="replace"))
        return profiled

    def test_neither_exit_nor_an_allocation_is_a_cancellation_point(self):
        for case in ("exit", "child", "thread"):
            for flags in ((), ("--sample", "512")):
                with self.subTest(case=case, flags=flags):
                    self.does_the_same([program("pending_cancellation"), case], flags)
                    self.assertIn("tracker", self.stats())

    def test_an_allocator_may_call_what_is_hooked_under_its_lock(self):
        for name in ("locking_allocator", "locking_wrapper"):
            with self.subTest(name):
                self.does_the_same([program(name)])

    def test_what_a_program_exports_by_names_of_libcs_is_never_called(self):
        for flags in ((), ("--sample", "512"), ("--follow-fork",)):
            with self.subTest(flags):
                done = self.does_the_same([program("exports_libcs_names")], flags)
                self.assertEqual(done.stdout, b"child: 0 calls\nprogram: 0 calls\n")

    def test_what_a_program_exports_is_not_called_without_a_supervisor(self):
        environment = dict(os.environ, LD_PRELOAD=os.path.join(harness.BUILD, "lib/memprof/libmemprof_preload.so"),
                           MEMPROF_OUTPUT=self.path("x.memprof"))
        done = self.bare([program("exports_libcs_names")], env=environment)
        self.assertEqual((done.returncode, done.stdout), (0, b"child: 0 calls\nprogram: 0 calls\n"))

    def test_a_wrapper_may_look_for_the_real_function_when_it_is_called(self):
        # It prints the calls of malloc and free that it saw: the tracker makes none.
        done = self.does_the_same([program("lazy_wrappers")])
        self.assertIn(b"it is said\n", done.stdout)

    def test_a_preload_may_allocate_and_look_functions_up_under_its_lock(self):
        environment = dict(os.environ, LD_PRELOAD=program("liblazy_preload.so"))
        command = [program("exits"), "return"]
        bare = self.bare(command, env=environment)
        profiled = self.profile(command, env=environment)
        self.assertEqual((profiled.returncode, profiled.stdout), (bare.returncode, bare.stdout))
        # The counts in the program; then in memprof, which ends last.
        self.assertEqual(profiled.stderr.splitlines()[:1], bare.stderr.splitlines())
        self.assertGreater(self.stats()["total"]["allocations"], 0)

    def behind(self, filters):
        """The command of a program behind filters that its parent set: one of another name."""
        name = self.path("behind")
        if not os.path.exists(name):
            os.symlink(program("inherited_filter"), name)
        return [program("inherited_filter"), filters, name]

    def test_behind_an_inherited_filter_no_call_is_made_that_it_may_forbid(self):
        for filters in ("no-sockets", "few-calls"):
            with self.subTest(filters):
                done = self.does_the_same(self.behind(filters))
                self.assertEqual(done.returncode, 5)
                self.assertEqual(self.stats()["end"]["kind"], "exec")
        self.does_the_same(self.behind("executes"))

    def test_that_a_program_was_behind_a_filter_is_said(self):
        done = harness.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), "--",
                            *self.behind("no-sockets")], cwd=self.directory)
        self.assertIn("is behind a filter of system calls", done.stderr.decode())

    def test_a_filter_that_memprof_is_behind_too_is_trusted(self):
        # As in a container.
        done = harness.run([*self.behind("reboot")[:2], harness.MEMPROF, "run", "-q", "-f", "-o",
                            self.path("x.memprof"), "--", program("inherited_filter")],
                           cwd=self.directory)
        self.assertEqual((done.returncode, done.stdout), (5, b"behind the filter\n"), done.stderr)
        self.assertEqual(self.stats()["end"], {"kind": "exit", "code": 5})


if __name__ == "__main__":
    unittest.main()
