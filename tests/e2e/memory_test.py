#!/usr/bin/python3
"""Memory beside the heap: the program's own mappings, and where its RSS is."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import time
import unittest

import harness

SOURCE = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void* in_thread(void* unused) {
  volatile char stack[512 * 1024];
  for (size_t i = 0; i < sizeof stack; i += 64) stack[i] = 1;
  pause();
  return stack[0] ? unused : NULL;
}

static char* map(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
  char* volatile heap = malloc(8 << 20);
  memset(heap, 1, 8 << 20);
  char* mapped = map(16 << 20);
  memset(mapped, 1, 4 << 20);
  char* volatile untouched = malloc(32 << 20);
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  usleep(50000);
  puts("ready");
  fflush(stdout);
  getchar();
  return untouched == NULL;
}
"""


def resident(pid):
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Rss:")) * 1024


class MemoryTest(harness.MemprofTest):
    def compile(self, source, name="program"):
        with open(self.path(name + ".c"), "w", encoding="utf-8") as file:
            file.write(source)
        done = harness.run(["cc", "-g", "-O1", "-o", self.path(name), self.path(name + ".c"), "-lpthread"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def assert_parts_sum(self, memory):
        for sample in [memory["highest"], memory["last"], *memory["samples"]]:
            self.assertEqual(sum(sample["parts"].values()), sample["rss_bytes"], sample)

    def measured(self, end, environment=None):
        """The sample that was taken while the program waited, and what smaps said then."""
        program = self.compile(SOURCE)
        with subprocess.Popen([harness.MEMPROF, "run", "-q", "-o", self.path("x.memprof"), "--", program],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=dict(os.environ, **(environment or {}))) as run:
            self.assertEqual(run.stdout.readline(), b"ready\n")
            children = harness.run(["ps", "-o", "pid=", "--ppid", str(run.pid)]).stdout.split()
            pid = int(children[0])
            time.sleep(0.5)
            rss = resident(pid)
            if end == "kill":
                os.kill(pid, signal.SIGKILL)
            else:
                run.stdin.write(b"\n")
                run.stdin.close()
            self.assertEqual(run.wait(harness.TIMEOUT), 137 if end == "kill" else 0)
        memory = self.stats()["memory"]
        self.assert_parts_sum(memory)
        return memory, rss

    def test_parts_sum_to_the_rss_and_each_is_what_the_program_did(self):
        memory, rss = self.measured("exit")
        sample = memory["highest"]
        parts = sample["parts"]
        self.assertAlmostEqual(sample["rss_bytes"], rss, delta=rss * 0.05)
        self.assertGreaterEqual(parts["live"], 40 << 20)
        self.assertLess(parts["live"], 41 << 20)
        self.assertAlmostEqual(parts["mapped"], 4 << 20, delta=64 << 10)
        self.assertGreaterEqual(parts["stacks"], 512 << 10)
        self.assertLess(parts["stacks"], 1 << 20)
        self.assertAlmostEqual(parts["not_resident"], -(32 << 20), delta=1 << 20)
        self.assertLess(abs(parts["unexplained"]), 1 << 20)
        self.assertEqual(memory["allocator_last"]["provider"], "glibc")
        self.assertIsNone(memory["allocator_last"]["allocated_bytes"])  # glibc is never asked

    def test_what_was_measured_last_is_there_after_a_kill(self):
        memory, rss = self.measured("kill")
        self.assertAlmostEqual(memory["last"]["rss_bytes"], rss, delta=rss * 0.05)
        self.assertGreater(memory["last"]["time_ms"], 0)
        text = self.memprof("stats", self.path("x.memprof"))
        self.assertIn("mapped by the program", text)
        self.assertIn("stacks", text)

    def mappings(self, *flags):
        done = self.profile([os.path.join(harness.PROGRAMS, "mappings")], flags)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_table_lists_mappings_by_place(self):
        self.mappings()
        text = self.memprof("table", "--mmap", self.path("x.memprof"))
        self.assertRegex(text, r"1\.0 MiB +\S+ +1 +\S+ \S+ +enlarge +mappings\.c:\d+")
        self.assertIn("mapped.data", text)
        self.assertIn("Address space only", text)
        rows = list(csv.DictReader(io.StringIO(self.memprof("table", "--mmap", "--csv", self.path("x.memprof")))))
        mapped = self.stats()["mappings"]
        for figure in ("peak", "leaked", "total"):
            self.assertEqual(sum(int(row[f"{figure}_bytes"]) for row in rows if row["reserved"] == "false"),
                             mapped[figure]["bytes"], figure)
        two = json.loads(self.memprof("table", "--mmap", "--json", "-n", "2", self.path("x.memprof")))["rows"]
        self.assertEqual(sum(row["peak"]["bytes"] for row in two if not row["reserved"]),
                         mapped["peak"]["bytes"])

    def test_without_following_there_are_no_mappings_and_reports_say_so(self):
        self.mappings("--no-mmap")
        self.assertIsNone(self.stats()["mappings"])
        done = harness.run([harness.MEMPROF, "table", "--mmap", self.path("x.memprof")])
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"--no-mmap", done.stderr)

    def test_merge_sums_mappings(self):
        self.mappings()
        os.rename(self.path("x.memprof"), self.path("y.memprof"))
        self.mappings()
        one = self.stats()["mappings"]
        both = json.loads(self.memprof("stats", "--json", self.path("x.memprof"), self.path("y.memprof")))
        self.assertEqual(both["mappings"]["peak"]["bytes"], 2 * one["peak"]["bytes"])
        self.assertIsNone(both["memory"])

    def test_allocators_own_mappings_are_not_the_programs(self):
        for library in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"):
            with self.subTest(library):
                program = self.compile("#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nint main(){char* volatile p;"
                                       "for(int i=0;i<3000;i++){p=malloc(10000);memset(p,1,10000);if(i%10==0)usleep(1);}}\n", "big")
                with subprocess.Popen(["ldconfig", "-p"], stdout=subprocess.PIPE) as listing:
                    if library.encode() not in listing.stdout.read():
                        self.skipTest(library)
                done = self.profile([program], env=dict(os.environ, LD_PRELOAD=library))
                self.assertEqual(done.returncode, 0, done.stderr)
                stats = self.stats()
                self.assertEqual(stats["mappings"]["total"], {"bytes": 0, "mappings": 0}, library)
                provider = re.match(r"lib([a-z]+)", library)[1]
                said = stats["memory"]["allocator_last"]
                self.assertEqual(said["provider"], provider)
                if provider != "mimalloc":
                    self.assertGreaterEqual(said["allocated_bytes"], 3000 * 10000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
