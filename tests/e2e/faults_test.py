#!/usr/bin/python3
"""System calls that fail, no room, kills: the short version of ./dev faults (tests/faults)."""
import errno
import os
import sys
import unittest

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "faults"))
import faults  # noqa: E402


class FaultsTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.faults = faults.Faults(harness.BUILD, self.directory)

    def test_the_tracker_lives_without_any_of_its_memory(self):
        # All of the first reservations, and some of the later growth.
        self.assertGreater(self.faults.fail_each("tracker", "mmap", errno.ENOMEM), 5)
        self.assertGreater(
            self.faults.fail_each("tracker", "mprotect", errno.ENOMEM, most=8), 3)

    def test_the_tracker_lives_without_its_socket(self):
        for call in ("socket", "connect", "recvmsg"):
            self.assertEqual(
                self.faults.fail_each("tracker", call, faults.TRACKER[call][0]), 1, call)

    def test_the_supervisor_says_why_there_is_no_region_or_no_capture(self):
        for call in ("memfd_create", "ftruncate", "pwrite64", "write", "rename", "fsync"):
            self.assertGreater(
                self.faults.fail_each("supervisor", call, faults.SUPERVISOR[call][0]), 0, call)
        self.assertIn("an error, the program was not started", self.faults.ends)
        self.assertIn("an error, the program ran", self.faults.ends)

    def test_a_fault_is_really_made(self):
        # A refused memfd is fatal before the start: were it not, nothing here would show anything.
        self.assertTrue(self.faults.fail("supervisor", "memfd_create", 1, errno.EMFILE))
        self.assertEqual(self.faults.ends, {"an error, the program was not started": 1})
        self.assertFalse(self.faults.fail("supervisor", "memfd_create", 1000, errno.EMFILE))

    def test_jumps_of_the_clock_leave_times_as_they_are(self):
        for seconds in (10**9, -10**9):
            self.faults.jump_clock(seconds)

    def test_kills_at_random_moments_lose_no_more_than_what_is_in_flight(self):
        for after in faults.random_moments(7, 3, 0.2):
            self.assertLessEqual(self.faults.kill_program(after), faults.bound_in_flight(4))
        for after in faults.random_moments(8, 2, 0.2):
            self.assertLessEqual(self.faults.kill_supervisor(after), faults.bound_in_flight(4))


if __name__ == "__main__":
    unittest.main(verbosity=2)
