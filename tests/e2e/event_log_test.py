#!/usr/bin/python3
"""The tracker against a naive replay of all its events, site by site, in single- and multi-threaded
programs: identical peaks, leaks and totals.

The programs run under the second build of the preload, which logs each event in the order in which
it was booked; all else is as in the product.
"""
import os
import shutil
import tempfile
import unittest

import event_log_model
import harness
import site_keys

LIBRARY = os.path.join(harness.BUILD, "tests", "event_log", "lib", "memprof",
                       "libmemprof_preload.so")
LOG_BYTES = 1 << 30  # sparse: only what is logged takes room


class EventLogTest(harness.MemprofTest):
    @classmethod
    def setUpClass(cls):
        # memprof takes the preload that lies beside it.
        cls.installed = tempfile.mkdtemp(prefix="memprof-test-")
        cls.addClassCleanup(shutil.rmtree, cls.installed, ignore_errors=True)
        cls.logging_memprof = os.path.join(cls.installed, "bin", "memprof")
        os.makedirs(os.path.dirname(cls.logging_memprof))
        shutil.copy(harness.MEMPROF, cls.logging_memprof)
        os.makedirs(os.path.join(cls.installed, "lib"))
        os.symlink(os.path.dirname(LIBRARY), os.path.join(cls.installed, "lib", "memprof"))

    def logged(self, command, *flags, variables=None):
        """Runs a command: its log, the sites' keys in place of their ids, and the capture's rows
        by key."""
        with open(self.path("log"), "wb") as file:
            file.truncate(LOG_BYTES)
        done = harness.run(
            [self.logging_memprof, "run", "-q", "-f", "-o", self.path("x.memprof"), "--region",
             self.path("x.region"), *flags, "--", *command], cwd=self.directory,
            env=dict(os.environ, MEMPROF_EVENT_LOG=self.path("log"),
                     KNOWN_ANSWER=self.path("answer"), **(variables or {})))
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        log = event_log_model.Log(self.path("log"))
        self.assertEqual((log.taken, log.overflowed, log.missed), (1, 0, 0))
        tracker = self.stats()["tracker"]
        self.assertEqual(tracker["dropped_events"], 0)
        region = site_keys.Region(self.path("x.region"))
        keys = [region.key(site) for site in range(len(region.sites))]
        records = log.records({event_log_model.NO_SITE: None, **dict(enumerate(keys))})
        hashes = {(key, region.stack_hash(site)) for site, key in enumerate(keys)}
        for record in records:
            if record.site is not None and record.site.split("\n")[1] != site_keys.KINDS[
                    record.allocator]:
                self.fail(f"booked under another function of the allocator: {record}")
            if record.stack_hash != 0 and (record.site, record.stack_hash) not in hashes:
                self.fail(f"booked under a site of another stack: {record}")
        return records, site_keys.of_capture(self.memprof("parse", self.path("x.memprof")))

    def assert_rows(self, found, expected, figures):
        self.assertEqual(found.keys(), expected.keys())
        wrong = [(key[-200:], found[key], expected[key]) for key in expected
                 if any(found[key][i] != expected[key][i] for i in figures)]
        self.assertEqual(wrong[:5], [], f"innermost frames, found, expected; {len(wrong)} of "
                                        f"{len(expected)} rows differ")

    def agrees(self, command, *flags, least=1, threshold=1, **options):
        """The capture is what the model says: every row, and the totals."""
        records, rows = self.logged(command, *flags, "--temporary", str(threshold), **options)
        model, expected = event_log_model.replay(records, threshold)
        self.assertGreaterEqual(model.events, least)
        self.assertEqual(model.wrong_frees[:3], [])
        self.assert_rows(rows, expected, (0, 1, 2, 3, 4))
        stats = self.stats()
        for i, figure in enumerate(("peak", "leaked", "total", "temporary")):
            self.assertEqual((stats[figure]["bytes"], stats[figure]["allocations"]),
                             (sum(row[i][0] for row in expected.values()),
                              sum(row[i][1] for row in expected.values())), figure)
        self.assertEqual(stats["tracker"]["counter_peak_bytes"], model.peak)
        return model

    def agrees_within_the_bound(self, command, least=1):
        """As agrees, without --exact-peak: the rows of the peak are those of some moment, at which
        as much was live as at the peak, within the stated bound."""
        records, rows = self.logged(command)
        model, expected = event_log_model.replay(records)
        self.assertGreaterEqual(model.events, least)
        self.assertEqual(model.wrong_frees[:3], [])
        self.assert_rows(rows, expected, (1, 2, 3, 4))
        stats = self.stats()
        bound = stats["tracker"]["peak_bound_bytes"]
        self.assertLessEqual(bound, model.peak / 1000)
        for found in (stats["peak"]["bytes"], stats["tracker"]["counter_peak_bytes"]):
            self.assertLessEqual(abs(found - model.peak), bound)
        peak = {site: row[0] for site, row in rows.items()}
        moments = event_log_model.Model(records, rows=peak).sums_like
        self.assertEqual(moments, {stats["peak"]["bytes"]}, "the rows of the peak were never live")

    def program(self, command):
        name, *arguments = command.split()
        return [os.path.join(harness.PROGRAMS, name), *arguments]

    def test_one_thread(self):
        for name in ("containers", "operators", "peak_after_fall", "peak_first_of_equals",
                     "peak_of_realloc", "peak_sawtooth", "realloc_cases", "c_entry_points",
                     "unknown_frees", "temporaries", "kinds", "api_segments", "api_first_peak",
                     "api_pools"):
            with self.subTest(name):
                self.agrees(self.program(name))

    def test_temporaries_of_any_threshold(self):
        for threshold in (2, 7, 64):
            for name in ("temporaries", "random_walk"):
                with self.subTest(name, threshold=threshold):
                    self.agrees(self.program(name), threshold=threshold)
            with self.subTest("threads", threshold=threshold):
                self.agrees(self.program("random_walk_threads"), "--exact-peak",
                            threshold=threshold)

    def test_a_random_walk(self):
        self.agrees(self.program("random_walk"), least=200000)

    def test_marks_do_not_change_what_the_run_s_peak_was(self):
        self.agrees(self.program("api_random_walk 1"), least=15000)
        self.agrees(self.program("api_random_walk 4"), "--exact-peak", least=60000)

    def test_threads_with_exact_peak(self):
        for name, least in (("random_walk_threads", 100000), ("freed_elsewhere", 190),
                            ("short_threads", 11000), ("temporaries_threads", 20), ("peak_threads", 100),
                            ("large_heap_threads walk", 40000),
                            ("large_heap_threads climb", 40000)):
            with self.subTest(name):
                self.agrees(self.program(name), "--exact-peak", least=least)

    def test_threads_that_keep_something_back(self):
        for name in ("random_walk_threads", "large_heap_threads walk", "large_heap_threads climb",
                     "short_threads"):
            with self.subTest(name):
                self.agrees_within_the_bound(self.program(name))

    def test_real_programs(self):
        script = ("create table t(a integer primary key, b text); begin;" + "".join(
            f"insert into t values({i}, 'r{i * 7919 % 991}');" for i in range(2000)) +
            "commit; create index i on t(b); select count(distinct b) from t;")
        for name, command, least in (
                ("sqlite3", ["sqlite3", ":memory:", script], 5000),
                ("perl", ["perl", "-e", "my %h; $h{$_ % 977} .= $_ for 1..20000;"], 5000),
                ("xmllint", ["xmllint", "--version"], 1)):
            with self.subTest(name):
                self.agrees(command, least=least)

    # CPython has an allocator of its own before malloc, which this turns off.
    PYTHON = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}
    JSON = ("import json; json.loads(json.dumps([{'i': i, 's': str(i)} for i in range(3000)], "
            "indent=1))")

    # The log's stacks are native ones.
    def test_python(self):
        self.agrees(["/usr/bin/python3", "-c", self.JSON], "--no-python", variables=self.PYTHON,
                    least=50000)

    def test_python_functions_of_a_repeated_stack_are_those_that_are_read_again(self):
        for arguments in (["-c", self.JSON], [os.path.join(harness.SOURCES, "python_stacks.py"),
                                              self.path("stacks"), "3"]):
            done = harness.run(
                [self.logging_memprof, "run", "-q", "-f", "--no-follow-fork", "-o",
                 self.path("x.memprof"), "--", "/usr/bin/python3", *arguments],
                cwd=self.directory, env=dict(os.environ, **self.PYTHON))
            self.assertEqual(done.returncode, 0, done.stderr)
            stats = self.stats()
            self.assertGreater(stats["total"]["allocations"], 50000)
            self.assertEqual(stats["tracker"]["dropped_events"], 0)

    def test_python_with_threads(self):
        script = ("import threading\n"
                  "def work():\n"
                  "    for n in range(3000): str(n) * 100\n"
                  "    keep.append([bytearray(3000 + n) for n in range(100)])\n"
                  "keep = []\n"
                  "threads = [threading.Thread(target=work) for _ in range(4)]\n"
                  "[t.start() for t in threads]; [t.join() for t in threads]\n")
        self.agrees(["/usr/bin/python3", "-c", script], "--exact-peak", "--no-python",
                    variables=self.PYTHON,
                    least=50000)

    def test_a_log_with_one_event_wrong_does_not_agree(self):
        whole, rows = self.logged(self.program("random_walk"))
        peak_at = event_log_model.Model(whole).peak_at
        last_free = max(i for i, record in enumerate(whole)
                        if record.kind == event_log_model.FREED)
        first = next(i for i, record in enumerate(whole)
                     if record.kind == event_log_model.ALLOCATED)
        larger = whole[first]._replace(bytes=whole[first].bytes + 1)
        for title, records, figure in (
                ("a free is missing", whole[:last_free] + whole[last_free + 1:], 1),
                ("a byte too many", whole[:first] + [larger] + whole[first + 1:], 2)):
            with self.subTest(title), self.assertRaises(AssertionError):
                self.assert_rows(rows, event_log_model.replay(records)[1], (figure,))
        for title, stop in (("before the peak", peak_at - 1), ("after the peak", peak_at + 1)):
            with self.subTest(title):
                live = event_log_model.Model(whole, stop=stop).live
                self.assertNotEqual({key: tuple(live[key]) for key in rows},
                                    {key: row[0] for key, row in rows.items()})


if __name__ == "__main__":
    unittest.main()
