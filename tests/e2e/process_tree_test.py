#!/usr/bin/python3
"""memprof run with programs that make others: each process has a capture, and there is a merge of
all; the figures are those of each process alone.
"""
import glob
import json
import os
import re
import signal
import subprocess
import time
import unittest

import harness

TREE = os.path.join(harness.PROGRAMS, "process_tree")
SERVER = os.path.join(harness.PROGRAMS, "prefork_server")
ROW = "[inherited at fork]"


def figures(profile):
    return {figure: (profile[figure]["bytes"], profile[figure]["allocations"])
            for figure in ("peak", "leaked", "total")}


class ProcessTreeTest(harness.MemprofTest):
    def tree(self, *arguments, flags=(), program=TREE, status=0, **options):
        each = [] if any("children-files" in flag for flag in flags) else [harness.EACH]
        done = harness.run([harness.MEMPROF, "run", *each, "-f", "-o", self.path("x.memprof"),
                            *flags, "--", program, *arguments], cwd=self.directory, **options)
        if done.returncode == 77:
            self.skipTest("not allowed here")
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stderr.decode()

    def captures(self):
        """{suffix: profile}, as "4711" of x.4711.memprof; the program's own is ""."""
        found = {}
        for path in glob.glob(self.path("x*.memprof")):
            name = os.path.basename(path)[len("x"):-len(".memprof")].lstrip(".")
            found[name] = self.sites(os.path.basename(path))
        for profile in found.values():
            self.assert_rows_sum_to_totals(profile)
        return found

    def children(self):
        found = self.captures()
        return {name: found[name] for name in found if name not in ("", "all")}

    def row(self, profile, figure="peak"):
        return sum(site[figure]["bytes"] for site in profile["sites"]
                   if [frame["function"] for frame in site["frames"]] == [ROW])

    def assert_work(self, profile):
        """What work() of the program leaves: it inherited 3000 bytes and had 10000 at the peak."""
        self.assertEqual(figures(profile), {"peak": (13000, 2), "leaked": (5500, 2),
                                            "total": (10500, 3)})
        self.assertEqual(self.row(profile), 3000)
        self.assertEqual(self.row(profile, "leaked"), 0)
        self.assertEqual(profile["tracker"]["unknown_frees"], 0)

    def test_a_forked_child_counts_from_zero_and_what_it_inherited_is_one_row(self):
        self.tree("fork")
        found = self.captures()
        (name, child), = [(n, p) for n, p in found.items() if n not in ("", "all")]
        self.assert_work(child)
        self.assertEqual(str(child["pid"]), name)
        self.assertIn(child["end"]["kind"], ("exit", "ended"))
        self.assertEqual(figures(found[""])["leaked"], (3000, 3))
        self.assertEqual(figures(found["all"])["leaked"], (8500, 5))
        self.assertEqual(figures(found["all"])["total"], (13500, 6))

    def test_a_child_by_the_system_call_alone_counts_the_same(self):
        self.tree("clone")
        child, = self.children().values()
        self.assert_work(child)

    def test_a_sampled_child_of_all_blocks_counts_the_same(self):
        self.tree("fork", flags=["--sample", "1"])
        child, = self.children().values()
        self.assertEqual(figures(child)["leaked"], (5500, 2))
        self.assertEqual(self.row(child), 3000)

    def test_each_generation_inherits_what_those_before_it_had(self):
        self.tree("nest", "20")
        peaks = sorted(figures(p)["peak"][0] for p in self.children().values())
        self.assertEqual(peaks, [3000 + sum(1000 * d for d in range(20, k - 1, -1))
                                 for k in range(20, 0, -1)])

    def test_an_image_before_an_exec_and_the_one_after_it(self):
        self.tree("exec")
        children = self.children()
        before, = [p for n, p in children.items() if n.endswith(".exec1")]
        after, = [p for n, p in children.items() if not n.endswith(".exec1")]
        self.assertEqual(figures(before), {"peak": (3600, 1), "leaked": (600, 1), "total": (600, 1)})
        self.assertEqual(before["end"]["kind"], "exec")
        self.assertEqual(figures(after), {"peak": (2000, 1), "leaked": (2000, 1), "total": (2000, 1)})

    def test_spawned_programs(self):
        self.tree("spawn")
        children = self.children()
        self.assertEqual([figures(p)["total"] for p in children.values()], [(2000, 1)] * 2)

    def of_process(self, *process, capture="x.all.memprof"):
        return json.loads(self.memprof("transform", "json", *(self.path(c) for c in capture.split()),
                                       *(f"--process={one}" for one in process)))

    def assert_same_rows(self, profile, alone):
        """All but the sizes, which a merge has of all its processes together."""
        self.assert_rows_sum_to_totals(profile)
        self.assertEqual(figures(profile), figures(alone))
        rows = [[{key: site[key] for key in site if key != "histogram"} for site in one["sites"]]
                for one in (profile, alone)]
        self.assertEqual(*rows)

    def test_a_process_of_the_merge_has_what_its_own_capture_has(self):
        self.tree("fork")
        child, = self.children().values()
        parent = self.sites("x.memprof")
        of_child = self.of_process(child["pid"])
        self.assertEqual(figures(of_child), {"peak": (13000, 2), "leaked": (5500, 2),
                                             "total": (10500, 3)})
        self.assertEqual(self.row(of_child), 3000)
        self.assertEqual(self.row(of_child, "leaked"), 0)
        self.assert_same_rows(of_child, child)
        self.assertEqual(of_child["pid"], child["pid"])
        self.assertEqual(of_child["end"], child["end"])
        self.assertNotIn("sources", of_child)
        for of_all in ("timeline", "mappings"):
            self.assertIsNone(of_child[of_all])
        self.assertNotIn("dropped_events", of_child["tracker"])
        of_parent = self.of_process(parent["pid"])
        self.assertEqual(figures(of_parent), {"peak": (3000, 3), "leaked": (3000, 3),
                                              "total": (3000, 3)})
        self.assert_same_rows(of_parent, parent)
        # Both are all there is, and then nothing is left out.
        whole = self.sites("x.all.memprof")
        both = self.of_process("process_*")
        self.assertEqual(both.pop("processes")["shown"], 2)
        self.assertEqual(both, whole)
        self.assertEqual([(s["peak"]["bytes"], s["leaked"]["bytes"], s["total"]["bytes"])
                          for s in whole["sources"]], [(3000, 3000, 3000), (13000, 5500, 10500)])

    def test_a_program_of_the_merge_by_what_it_was_called(self):
        self.tree("spawn")
        leaves = self.of_process("leaf")
        self.assertEqual(figures(leaves), {"peak": (4000, 2), "leaked": (4000, 2),
                                           "total": (4000, 2)})
        self.assertEqual(len(leaves["sources"]), 2)
        self.assertEqual(leaves["processes"], {"selected": "leaf", "shown": 2, "all": 3,
                                               "not_apart": 0, "figures_only": True})

    def test_a_pid_of_the_merge_is_of_all_its_images(self):
        self.tree("exec")
        pid, = {profile["pid"] for profile in self.children().values()}
        both = self.of_process(pid)
        self.assertEqual(figures(both), {"peak": (5600, 2), "leaked": (2600, 2),
                                         "total": (2600, 2)})
        self.assertEqual([source["pid"] for source in both["sources"]], [pid, pid])

    def test_every_report_is_of_the_process_that_is_asked_for(self):
        self.tree("fork")
        child, = self.children().values()
        option = f"--process={child['pid']}"
        merge = self.path("x.all.memprof")
        summary = self.memprof("summary", merge, option)
        self.assertRegex(summary, fr"of +1 of 2, by --process {child['pid']}\n")
        self.assertIn(f"pid {child['pid']}", summary)
        self.assertIn("(13,000 B) in 2 allocations", summary)
        self.assertNotIn("By process", summary)
        self.assertIn("5,500 B", self.memprof("stats", merge, option))
        for report in ("table", "tree"):
            text = self.memprof(report, merge, option)
            self.assertTrue(text.startswith("processes: 1 of 2, "), text)
            self.assertIn("12.7 KiB", text)
        self.memprof("flamegraph", merge, option, "-o", self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8") as page:
            self.assertIn(f"1 of 2, by --process {child['pid']}", page.read())
        folded = self.memprof("transform", "folded", merge, option)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()), 13000)
        self.assertRegex(self.memprof("summary", merge),
                         r"(?s)By process.*process_tree \(\d+\)\n.*process_tree \(\d+\)\n.*total")

    def test_the_page_of_the_merge_has_each_process_as_its_own_capture_has_it(self):
        self.tree("fork")
        self.memprof("flamegraph", self.path("x.all.memprof"), "-o", self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8") as file:
            data = json.loads(re.search(r'id="capture">(.*?)</script>', file.read(), re.S)[1])
        summary = self.memprof("summary", self.path("x.all.memprof"))
        self.assertIn(data["run"], " ".join(summary.split()))
        processes = data["processes"]
        alone = {profile["pid"]: profile for name, profile in self.captures().items()
                 if name != "all"}
        self.assertEqual(processes["count"], len(alone))
        self.assertEqual(processes["together"]["count"], 0)
        for process in processes["listed"]:
            own = alone[process["pid"]]
            self.assertEqual(process["program"], own["program"])
            self.assertEqual(process["command"], own["command"])
            for figure in ("peak", "leaked", "total"):
                expected = [own[figure]["bytes"], own[figure]["allocations"]]
                self.assertEqual(process["totals"][figure], expected)
                for table in (process["own"], process["functions"]["self"],
                              process["functions"]["located"]):
                    self.assertEqual([sum(table[figure + "_bytes"]),
                                      sum(table[figure + "_allocations"])], expected)
        for figure in ("peak", "leaked", "total"):
            self.assertEqual([sum(process["totals"][figure][i] for process in processes["listed"])
                              for i in (0, 1)], data["totals"][figure])

    def test_a_merge_is_compared_by_process_with_the_process_s_own_capture(self):
        self.tree("fork")
        child, = self.children().values()
        own, merge = self.path(f"x.{child['pid']}.memprof"), self.path("x.all.memprof")
        option = f"--process={child['pid']}"
        rows = json.loads(self.memprof("diff", "--json", own, merge, option))["rows"]
        self.assertTrue(rows)
        for row in rows:
            for figure in ("peak", "leaked", "total"):
                self.assertEqual(row[figure]["before"], row[figure]["after"], row)
        text = self.memprof("diff", own, merge, option)
        self.assertIn(f"processes: 1 of 2, by --process {child['pid']}", text)
        self.memprof("diff", own, merge, option, "--html", "-o", self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8") as page:
            self.assertIn(f"1 of 2, by --process {child['pid']}", page.read())
        done = harness.run([harness.MEMPROF, "diff", own, merge, "--process=nobody"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_of_several_captures_those_of_the_process_are_read(self):
        self.tree("fork")
        child, = self.children().values()
        name = f"x.{child['pid']}.memprof"
        alone = self.sites(name)
        of_both = self.of_process(child["pid"], capture=f"x.memprof {name}")
        self.assertEqual(of_both.pop("processes")["all"], 2)
        self.assertEqual(of_both, alone)

    def test_no_such_process_is_said_in_a_line_that_lists_them(self):
        self.tree("fork")
        child, = self.children().values()
        for captures in (["x.all.memprof"], ["x.memprof", f"x.{child['pid']}.memprof"]):
            for report in ("summary", "table", "tree", "stats", "flamegraph"):
                done = harness.run([harness.MEMPROF, report, *map(self.path, captures), "-o",
                                    self.path("out"), "--process", "nobody"])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertIn(b"no process is nobody; there are process_tree (", done.stderr)
                self.assertIn(str(child["pid"]).encode(), done.stderr)
                self.assertFalse(os.path.exists(self.path("out")))
        for what, status, why in ((["table", "--mmap"], 3, b"mappings of its processes together"),
                                  (["summary"], 2, b"not kept by process")):
            capture = self.path("x.all.memprof") + ("@10s" if what == ["summary"] else "")
            done = harness.run([harness.MEMPROF, *what, capture, f"--process={child['pid']}"])
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(why, done.stderr)

    def test_without_following_it_is_the_program_alone(self):
        said = self.tree("fork", flags=["--no-follow-fork"])
        self.assertEqual(list(self.captures()), [""])
        self.assertIn("child processes are not profiled (1 seen)", said)

    def test_what_a_program_executed_that_was_left_out_has_its_own_name(self):
        with open(self.path("starts.sh"), "w", encoding="ascii") as script:
            script.write(f"#!/bin/bash\nexec {os.path.join(harness.PROGRAMS, 'leaky_service')}\n")
        os.chmod(self.path("starts.sh"), 0o755)
        done = self.profile([self.path("starts.sh")], ["--only", "leaky_service"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sites()["program"], "leaky_service")

    def test_only_and_skip_choose_by_the_program_s_name(self):
        self.tree("exec", flags=["--skip", "le*"])
        self.assertTrue(all(n.endswith(".exec1") for n in self.children()))
        for name in glob.glob(self.path("x*.memprof")):
            os.unlink(name)
        self.tree("exec", flags=["--only", "leaf"])
        self.assertEqual([figures(p)["total"] for p in self.children().values()], [(2000, 1)])
        self.assertFalse(os.path.exists(self.path("x.memprof")))

    def test_a_daemon_s_capture_comes_when_it_ends_and_nobody_waits_for_it(self):
        until = self.path("until")
        open(until, "w", encoding="ascii").close()
        began = time.monotonic()
        # As $(memprof run …): the pipe ends when nobody holds it any more.
        said = self.tree("daemon", until)
        self.assertLess(time.monotonic() - began, 60)
        self.assertIn("still run", said)
        self.assertFalse(os.path.exists(self.path("x.all.memprof")))
        os.unlink(until)
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path("x.all.memprof")) and time.monotonic() < deadline:
            time.sleep(0.05)
        totals = sorted(figures(p)["total"] for p in self.children().values())
        self.assertEqual(totals[-1], (4040, 2))

    def test_with_wait_it_is_waited_for(self):
        until = self.path("until")
        open(until, "w", encoding="ascii").close()
        with subprocess.Popen(["sh", "-c", f"sleep 1; rm {until}"]):
            said = self.tree("daemon", until, flags=["--wait"])
        self.assertNotIn("still run", said)
        totals = sorted(figures(p)["total"] for p in self.children().values())
        self.assertEqual(totals[-1], (4040, 2))
        self.assertTrue(os.path.exists(self.path("x.all.memprof")))

    def test_who_executes_something_as_the_program_ends_is_not_lost(self):
        # setsid -f: the program forks, and ends at once; its child executes.
        for flags in ((), ("--wait",)):
            for _ in range(3):
                self.tree("-f", TREE, "fork", program="/usr/bin/setsid", flags=flags)
                deadline = time.monotonic() + 20
                while not os.path.exists(self.path("x.all.memprof")) and time.monotonic() < deadline:
                    self.assertEqual(flags, ())
                    time.sleep(0.05)
                whole = self.sites("x.all.memprof")
                self.assertGreater(whole["total"]["bytes"], 13000)
                for path in glob.glob(self.path("x*.memprof")):
                    os.remove(path)

    def test_a_child_s_mappings_are_its_own(self):
        self.tree(program=os.path.join(harness.PROGRAMS, "mappings_in_children"))
        child, = self.children().values()
        mappings = child["mappings"]
        self.assert_mappings_sum_to_totals(mappings)
        self.assertEqual((mappings["lost_events"], child["tracker"]["dropped_events"]), (0, 0))
        figures_of = {row["frames"][0]["function"]: (row["peak"]["bytes"], row["leaked"]["bytes"],
                                                     row["total"]["mappings"])
                      for row in mappings["rows"]}
        self.assertEqual(figures_of, {"kept": (2 << 20, 2 << 20, 1), "gone": (3 << 20, 0, 1)})

    def test_a_run_leaves_two_files_and_more_only_where_asked(self):
        shell = 'for i in 1 2 3 4 5; do /bin/true $i; done; exec sh -c "exec true"'
        for flags, left in (((), 2), (("--children-files", "3"), 5), (("--no-follow-fork",), 3)):
            with self.subTest(flags=flags):
                for path in glob.glob(self.path("x*.memprof")):
                    os.unlink(path)
                done = self.profile(["sh", "-c", shell], flags)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = sorted(os.listdir(self.directory))
                self.assertEqual(len(found), left, found)
                if "--no-follow-fork" in flags:
                    continue  # nothing else has the images before an exec
                self.assertIn("x.all.memprof", found)
                # The five, the two images before an exec, and the last one.
                self.assertEqual(len(self.sites("x.all.memprof")["sources"]), 8)

    def test_a_kill_of_memprof_leaves_what_can_be_merged(self):
        until = self.path("until")
        open(until, "w", encoding="ascii").close()
        self.addCleanup(lambda: os.path.exists(until) and os.unlink(until))
        with subprocess.Popen([harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"),
                               "--", TREE, "daemon", until]) as supervisor:
            self.wait_for(lambda: any(figures(p)["total"] == (4000, 1)
                                      for p in self.children().values()))
            supervisor.kill()
            supervisor.wait()
        os.unlink(until)
        self.memprof("merge", "-o", self.path("whole"), *glob.glob(self.path("x*.memprof")))
        self.assertGreaterEqual(self.sites("whole")["total"]["bytes"], 4000)

    def test_a_child_that_lives_has_its_capture_from_checkpoints(self):
        for killed in (False, True):
            with self.subTest(killed=killed):
                for path in glob.glob(self.path("x*.memprof")):
                    os.unlink(path)
                until = self.path("until")
                open(until, "w", encoding="ascii").close()
                with subprocess.Popen(
                        [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--wait", harness.EACH,
                         "--checkpoint", "1", "--", TREE, "daemon", until]) as supervisor:
                    def daemon():
                        return [(name, p) for name, p in self.children().items()
                                if figures(p)["total"] == (4000, 1)]
                    self.wait_for(daemon)
                    (name, profile), = daemon()
                    self.assertEqual(profile["end"]["kind"], "cut")
                    if killed:
                        supervisor.kill()
                        supervisor.wait()
                    os.unlink(until)
                if killed:
                    (name, profile), = daemon()
                    self.assertEqual(figures(profile)["leaked"], (4000, 1))
                else:
                    self.assertEqual(figures(self.children()[name])["total"], (4040, 2))
                    self.assertTrue(os.path.exists(self.path("x.all.memprof")))

    def test_a_signal_takes_a_daemon_s_capture_as_it_is(self):
        until = self.path("until")
        open(until, "w", encoding="ascii").close()
        self.addCleanup(os.unlink, until)
        self.tree("daemon", until)

        def stays_with_it():
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        command = file.read().split(b"\0")
                except OSError:
                    continue
                if command[0] == harness.MEMPROF.encode() and until.encode() in command:
                    return int(pid)
            return None
        supervisor = stays_with_it()
        os.kill(supervisor, signal.SIGTERM)
        self.wait_for(lambda: stays_with_it() is None)
        running = [p for p in self.children().values() if p["end"]["kind"] == "running"]
        self.assertEqual([figures(p)["total"] for p in running], [(4000, 1)])
        self.assertTrue(os.path.exists(self.path("x.all.memprof")))

    def wait_for(self, holds):
        deadline = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), deadline, "never")
            time.sleep(0.05)

    def test_many_short_children_leave_few_files_and_are_all_in_the_merge(self):
        self.tree("bomb", "600", "8", flags=["--max-children-files", "5"])
        self.assertEqual(len(glob.glob(self.path("x.*.memprof"))), 5 + 1)
        profile = self.sites("x.all.memprof")
        self.assertEqual(figures(profile)["leaked"], (3000 + 600 * 100, 3 + 600))

    def test_workers_that_live_at_once_are_merged_in_time(self):
        self.tree("keep", "100", "1000", flags=["--max-children-files", "3"])
        profile = self.sites("x.all.memprof")
        self.assertEqual(len(profile["sources"]), 101)
        per_worker = sum(1000 + k for k in range(100))
        self.assertEqual(figures(profile)["total"], (3000 + 100 * per_worker, 3 + 100 * 100))

    def test_threads_in_the_middle_of_anything_do_not_hold_a_child_up(self):
        self.tree("storm", "12")
        children = self.children()
        self.assertEqual(len(children), 12)
        for profile in children.values():
            self.assertEqual(profile["leaked"]["bytes"], 1111, profile["end"])
            self.assertEqual(profile["tracker"]["dropped_events"], 0)

    def shut(self, how):
        self.tree("shut", how)
        child, = self.children().values()
        self.assert_work(child)

    def test_a_child_that_may_make_no_system_call_but_an_allocator_s(self):
        self.shut("filter")

    def test_a_parent_behind_a_filter(self):
        self.shut("forking-filter")

    def test_a_child_without_descriptors(self):
        self.shut("descriptors")

    def test_a_child_with_another_root_and_user(self):
        self.shut("root")

    def test_a_child_in_a_session_of_its_own(self):
        self.shut("session")

    def test_a_child_that_may_not_be_looked_into(self):
        self.shut("undumpable")

    def test_a_child_without_proc_and_shared_memory(self):
        self.shut("no-proc")

    def test_children_that_all_say_that_they_are_process_1(self):
        self.tree("namespaces")
        children = self.children()
        self.assertEqual(sorted(figures(p)["total"] for p in children.values()),
                         [(7000, 1), (7001, 1)])
        self.assertNotIn("1", children)

    def test_children_with_a_clean_environment_are_named(self):
        said = self.tree("clean")
        self.assertIn("1 child process ran without a tracker", said)
        self.assertIn("sleep", said)

    def test_a_pre_fork_server_s_leak_is_counted_once(self):
        self.tree("4", "300", program=SERVER)
        children = self.children()
        self.assertEqual(len(children), 4)
        everything = self.sites("x.all.memprof")
        leaked = [s for s in everything["sites"] if any(f["function"] == "remember"
                                                        for f in s["frames"])]
        self.assertEqual(sum(s["leaked"]["bytes"] for s in leaked), 300 * 104)
        for child in children.values():
            self.assertGreaterEqual(self.row(child), 200000)


if __name__ == "__main__":
    unittest.main()
