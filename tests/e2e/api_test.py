#!/usr/bin/python3
"""The results of memprof/memprof.h in a program, with a tracker and without."""
import re
import unittest

import harness

FIGURES = ("known start now peak peak_growth growth leaked allocated thread_allocated thread_peak "
           "thread_growth bound sampled inexact ended thread_known stopped").split()


class ApiTest(harness.MemprofTest):
    def lines(self, what, *flags, tracked=True):
        command = [f"{harness.PROGRAMS}/api_figures", what]
        done = self.profile(command, flags) if tracked else self.bare(command)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().splitlines()

    def figures(self, lines, name):
        """Of each line of that name, {figure: text}."""
        return [dict(word.split("=") for word in line.split()[1:]) for line in lines
                if line.split()[0] == name and "=" in line]

    def assert_figures(self, found, **wanted):
        self.assertEqual({name: found[name] for name in wanted},
                         {name: str(value) for name, value in wanted.items()})

    def test_scopes_have_the_figures_of_what_happened_in_them(self):
        for flags in ((), ("--exact-peak",), ("--temporary", "4")):
            with self.subTest(flags=flags):
                lines = self.lines("scopes", *flags)
                first, ended, later = self.figures(lines, "inner")
                self.assert_figures(first, known=1, start=700, now=700, peak=1700, peak_growth=1000,
                                    growth="0/1", leaked="0/1", allocated="1000/2",
                                    thread_allocated="1000/2", bound=0, inexact=0, ended=0,
                                    sampled=0, thread_known=0, stopped=0)
                self.assertEqual(dict(first, ended="1"), ended)
                self.assertEqual(ended, later)
                outer, = self.figures(lines, "outer")
                self.assert_figures(outer, start=500, now=277, peak=1700, peak_growth=1200,
                                    growth="-223/2", leaked="277/3", allocated="1577/5", bound=0)

    def test_the_stacks_behind_a_scope_are_told_from_the_heaviest_on(self):
        lines = self.lines("scopes")
        stacks = [line for line in lines if " by malloc on " in line]
        self.assertEqual(len({line.split(", ")[1] for line in stacks}), 1)
        self.assertTrue(all(line.endswith("on api_figures, a stack") for line in stacks), stacks)
        of = lambda order: [line.split()[1] for line in stacks if line.split()[0] == order]
        self.assertEqual(of("peak"), ["1000/1", "200/1"])
        self.assertEqual(of("leaked"), ["200/1"])
        self.assertEqual(sorted(of("allocations")), ["0/1", "1000/1", "200/1", "300/1", "77/1"])
        self.assertEqual(of("allocated"), ["1000/1", "300/1"])
        self.assertEqual([line for line in lines if line.isdigit()], ["2", "3", "5", "5"])

    def test_scopes_nest_deep_and_there_may_be_64(self):
        lines = self.lines("scopes")
        self.assertEqual([line for line in lines if line.startswith("deep")],
                         [f"deep {i} peak_growth=4000" for i in range(11, -1, -1)])
        self.assertEqual(lines[-1], "scopes at once 64")
        self.assert_figures(self.figures(lines, "released")[0], known=0, peak=0)

    def test_a_threads_own_figures_are_of_what_it_allocated_whoever_frees_it(self):
        lines = self.lines("thread")
        # 700, +200, the other thread frees the 700, +50, the 200 become 250
        watched, = self.figures(lines, "watched")
        self.assert_figures(watched, thread_known=1, thread_peak=900, thread_growth=300,
                            thread_allocated="1200/4", peak_growth=10900, growth="300/2",
                            inexact=0, bound=0)
        later, = self.figures(lines, "later")
        self.assert_figures(later, thread_known=1, thread_peak=0, thread_growth=-650,
                            thread_allocated="50/1", growth="-650/0")
        plain, = self.figures(lines, "plain")
        self.assert_figures(plain, thread_known=0, thread_peak=0, thread_allocated="1200/4",
                            peak_growth=10900)

    def test_while_stopped_nothing_comes_and_what_was_there_leaves(self):
        lines = self.lines("stop")
        self.assertEqual(lines[0], "stops 1 2 1")
        stopped, = self.figures(lines, "while")
        self.assert_figures(stopped, start=600, now=300, peak_growth=0, allocated="0/0", stopped=1)
        self.assertIn("starts 0 0", lines)
        after, = self.figures(lines, "after")
        self.assert_figures(after, now=340, allocated="40/1", leaked="40/1", stopped=1)
        self.assertEqual(self.stats()["peak"]["bytes"], 600)

    def test_in_a_forked_child_that_is_not_followed_everything_is_a_no_op(self):
        lines = self.lines("fork", "--no-follow-fork")
        self.assertEqual(lines[0], "child 0")
        self.assert_figures(self.figures(lines, "fork")[0], growth="20/1", allocated="20/1")
        self.assertEqual(self.stats()["leaked"]["bytes"], 120)

    def test_in_a_forked_child_it_asks_the_child_s_own_heap_and_its_parent_s_scopes_are_gone(self):
        lines = self.lines("fork")
        # Present, a snapshot kept, the usage known, a scope begun, one stop and none after the start.
        self.assertEqual(lines[0], "child 5")
        self.assert_figures(self.figures(lines, "fork")[0], growth="20/1", allocated="20/1")
        self.assertEqual(self.stats()["leaked"]["bytes"], 120)

    def test_in_signal_handlers_it_is_harmless(self):
        lines = self.lines("signal")
        self.assert_figures(self.figures(lines, "after")[0], known=1, growth="123/1",
                            allocated="123/1")
        stats = self.stats()
        self.assertEqual(stats["leaked"]["bytes"], 123)
        self.assert_rows_sum_to_totals(self.sites())

    def test_usage_is_known_at_once(self):
        line, = self.lines("usage")
        self.assertEqual(line, "known=1 process=500 peak=1500 thread=500 allocations=2 bytes=1500 "
                               "errno=99")

    def test_a_named_snapshot_is_in_the_capture_and_a_name_has_its_newest(self):
        self.assertEqual(self.lines("snapshots"), ["1111"])
        for name, count in (("first", (1000, 1)), ("again", (50, 1)), ("empty", (0, 0))):
            with self.subTest(name):
                peak = self.sites(f"x.memprof@{name}")["peak"]
                self.assertEqual((peak["bytes"], peak["allocations"]), count)
        self.assertEqual(self.sites("x.memprof@peak")["peak"]["bytes"], 1050)

    def test_sampled_figures_say_so(self):
        lines = self.lines("scopes", "--sample", "1")
        for figures in self.figures(lines, "outer"):
            self.assert_figures(figures, known=1, sampled=1)
            self.assertGreater(int(figures["peak_growth"]), 0)

    def test_a_thread_that_ends_inside_a_mark_leaves_the_turn_to_others(self):
        self.assertEqual(self.lines("ends"), ["refused=0"])

    def test_a_pools_blocks_leave_while_stopped_with_the_weight_that_they_came_with(self):
        for flags in ((), ("--sample", "2048"), ("--temporary", "4")):
            with self.subTest(flags=flags):
                self.assertEqual(self.lines("pools", *flags), ["arena=1 grew=1 left=0"])

    def test_without_a_tracker_there_are_no_figures_and_nothing_else_changes(self):
        for what in ("scopes", "thread", "stop", "fork", "signal", "usage", "snapshots", "pools"):
            with self.subTest(what):
                bare = self.lines(what, tracked=False)
                tracked = self.lines(what)
                strip = lambda lines: [re.sub(r"-?\d+", "N", line) for line in lines
                                       if " by malloc on " not in line]
                self.assertEqual(strip(bare), strip(tracked))
                known = [line for line in bare if "known=" in line]
                self.assertTrue(all("known=0" in line for line in known), bare)

    def test_threads_that_make_marks_all_at_once_are_counted_right(self):
        for threads, flags in ((1, ()), (4, ()), (4, ("--exact-peak",))):
            with self.subTest(threads=threads, flags=flags):
                done = self.profile([f"{harness.PROGRAMS}/api_random_walk", str(threads)], flags)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                profile = self.sites()
                self.assert_rows_sum_to_totals(profile)
                tracker = profile["tracker"]
                self.assertEqual(tracker["dropped_events"], 0)
                off = abs(profile["peak"]["bytes"] - tracker["counter_peak_bytes"])
                self.assertLessEqual(off, tracker["peak_bound_bytes"])
                if threads == 1:
                    self.assertEqual(tracker["peak_bound_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
