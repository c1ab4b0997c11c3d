#!/usr/bin/python3
"""memprof run --inspect-at-exit and --inspect-at: the capture keeps what was lost and what held the rest at
that moment, and the program ends as without."""
import json
import os
import signal
import subprocess
import time
import unittest

import harness

ENDING_WAYS = os.path.join(harness.PROGRAMS, "ending_ways")
INSPECTED = os.path.join(harness.PROGRAMS, "inspected")
STATUS = {"return": 10, "exit": 11, "_exit": 12, "quick_exit": 13, "thread": 14, "vfork": 15, "fork": 16,
          "handler": 17}
PROMPTLY = 8  # seconds; the program would wait for ten if nobody answered


class RunInspectTest(harness.MemprofTest):
    def run_it(self, *command, flags=("--inspect-at-exit",), **options):
        return subprocess.run(
            [harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), *flags, "--", *command],
            cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=harness.TIMEOUT, check=False, **options)

    def kept(self):
        return json.loads(self.memprof("inspect", self.path("x.memprof"), "--json"))

    def blocks(self, found, figure):
        return {place["function"].split("(")[0]: place[figure]["allocations"]
                for place in found["places"] if place[figure]["allocations"]}

    def figures(self):
        stats = self.stats()
        return [(stats[name]["bytes"], stats[name]["allocations"]) for name in ("leaked", "total", "peak")]

    def test_however_the_program_ends(self):
        for how, status in STATUS.items():
            with self.subTest(how):
                self.assertEqual(self.run_it(ENDING_WAYS, how, flags=("-q",)).returncode, status)
                without = self.figures()
                run = self.run_it(ENDING_WAYS, how)
                self.assertEqual(run.returncode, status, run.stderr)
                self.assertIn("9.8 KiB in 10 blocks are lost for good", run.stderr)
                found = self.kept()
                self.assertEqual(self.blocks(found, "lost_directly"), {"Lose": 10})
                if found["pages"]["free_bytes"] != 0:
                    self.assertIn("of the allocator's part was free, on pages that live blocks keep",
                                  " ".join(self.memprof("stats", self.path("x.memprof")).split()))
                # Before the handler that frees them.
                self.assertEqual(self.blocks(found, "reachable")["Hold"], 5)
                # Nothing that is ours is counted, not even as a free that nobody knows.
                self.assertEqual(self.figures(), without)
                self.assertEqual(self.stats()["tracker"]["unknown_frees"], 0)

    def test_of_two_threads_that_end_it_the_first_one_does(self):
        for _ in range(3):
            run = self.run_it(os.path.join(harness.PROGRAMS, "exits_twice"))
            self.assertEqual(run.returncode, 5, run.stderr)
            self.assertIn("100 B in 1 block is lost for good", run.stderr)

    def test_a_program_that_crashes_is_not_inspected(self):
        run = self.run_it(ENDING_WAYS, "abort")
        self.assertEqual(run.returncode, 128 + signal.SIGABRT)
        self.assertIn("its heap was not inspected at the end: the program didn't end by exit()", run.stderr)
        inspect = subprocess.run([harness.MEMPROF, "inspect", self.path("x.memprof")],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(inspect.returncode, 2)
        self.assertIn("no inspection is in this capture", inspect.stderr)

    def test_a_budget_of_what_is_lost(self):
        budget = self.path("budget.toml")
        for limit, status in (("lost = 0", 1), ("lost = \"10K\"", 0)):
            with open(budget, "w", encoding="utf-8") as file:
                file.write(f"[budget]\n{limit}\n")
            run = self.run_it(ENDING_WAYS, "return", flags=("--inspect-at-exit", "--budget", budget,
                                                           "--exit-status", "budget"))
            self.assertEqual(run.returncode, status, run.stderr)

    def start(self, *flags):
        process = subprocess.Popen(
            [harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), *flags, "--", INSPECTED],
            cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def end(self, process):
        if process.stdin.closed:
            return b""
        errors = process.communicate(timeout=harness.TIMEOUT)[1]
        self.assertEqual(process.returncode, 0)
        return errors

    def wait_until_inspected(self, process):
        """A run that is being inspected has a child besides the program."""
        path = f"/proc/{process.pid}/task/{process.pid}/children"

        def children():
            with open(path, encoding="utf-8") as file:
                return len(file.read().split())

        deadline = time.monotonic() + harness.TIMEOUT
        for wanted in (2, 1):
            while children() != wanted:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.001)

    def assert_the_answer(self):
        found = self.kept()
        lost = self.blocks(found, "lost_directly")
        self.assertEqual({name: lost.get(name) for name in ("LoseSingles", "LoseList", "LoseTree")},
                         {"LoseSingles": 10, "LoseList": 1, "LoseTree": 1})
        self.assertEqual(self.blocks(found, "reachable")["NewNode"], 50)
        return found

    def test_at_a_signal(self):
        process = self.start("--inspect-at", "USR2")
        process.send_signal(signal.SIGUSR2)
        self.wait_until_inspected(process)
        errors = self.end(process)
        self.assertIn(b"inspected after ", errors)
        self.assertEqual(self.assert_the_answer()["looks"], 2)

    def test_at_a_snapshot(self):
        process = self.start("--inspect-at", "full", "--inspect-at", "other")
        self.memprof("snapshot", str(process.pid), "--name", "unasked")
        self.memprof("snapshot", str(process.pid), "--name", "full")
        self.wait_until_inspected(process)
        self.end(process)
        self.assert_the_answer()

    def test_at_the_peak_of_the_memory(self):
        # It holds what it has at its peak for a while, and frees it then. The last look was at four
        # fifths of it at least.
        code = "import time; x = [bytes(1000) for _ in range(60000)]; time.sleep(1.5); del x; time.sleep(0.3)"
        run = self.run_it("/usr/bin/python3", "-c", code, flags=("--inspect-at", "peak-rss"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(self.kept()["live"]["bytes"], 40_000_000)
        self.assertLess(self.stats()["leaked"]["bytes"], 10_000_000)

    def test_the_program_ends_if_memprof_is_killed(self):
        process = self.start("--inspect-at-exit")
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
            pid = int(file.read().split()[0])
        process.kill()
        process.wait()
        begin = time.monotonic()
        process.stdin.close()
        while os.path.exists(f"/proc/{pid}") and not self.is_zombie(pid):
            self.assertLess(time.monotonic() - begin, PROMPTLY)
            time.sleep(0.01)
        process.stdout.close()
        process.stderr.close()

    def is_zombie(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    def test_what_can_not_be_is_refused(self):
        for flags, says in ((("--inspect-at", "a/b"), "write peak-rss, a signal"),
                            (("--inspect-at", "KILL"), "this signal can't be taken"),
                            (("--inspect-at", "USR1", "--inspect-at", "USR2"), "takes one signal"),
                            (("--inspect-at-exit", "--sample", "64K"), "without it")):
            run = self.run_it("/bin/true", flags=flags)
            self.assertEqual(run.returncode, 125, run.stderr)
            self.assertIn(says, run.stderr)


if __name__ == "__main__":
    unittest.main()
