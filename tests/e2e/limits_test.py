#!/usr/bin/python3
"""Little address space, few descriptors, small files, a full disk: the program runs as without
memprof, and memprof reports what it could not keep."""
import ctypes
import os
import resource
import subprocess
import time
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
UNTIL_REFUSED = os.path.join(harness.PROGRAMS, "until_refused")
MANY_SITES = os.path.join(harness.PROGRAMS, "many_sites")
UNTIL_KILLED = os.path.join(harness.PROGRAMS, "until_killed")


def limit(which, value):
    return lambda: resource.setrlimit(which, (value, value))


class LimitsTest(harness.MemprofTest):
    def leaks_as_ever(self, capture="x.memprof"):
        profile = self.sites(capture)
        self.assert_rows_sum_to_totals(profile)
        leaked = [site for site in profile["sites"] if site["leaked"]["allocations"]
                  and any("RememberUser" in frame["function"] for frame in site["frames"])]
        self.assertEqual(sum(site["leaked"]["bytes"] for site in leaked), 250000)
        self.assertEqual(sum(site["leaked"]["allocations"] for site in leaked), 1000)

    def test_little_address_space_from_the_start(self):
        for mebibytes in (1024, 256, 100):
            with self.subTest(mebibytes=mebibytes):
                done = self.profile([LEAKY],
                                    preexec_fn=limit(resource.RLIMIT_AS, mebibytes << 20))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.leaks_as_ever()

    def test_what_the_program_may_have_is_not_taken_by_the_tracker(self):
        # A program that needs two thirds of its limit gets it.
        done = self.profile(["/usr/bin/python3", "-c", "x = bytearray(170 << 20); print(len(x))"],
                            preexec_fn=limit(resource.RLIMIT_AS, 256 << 20))
        self.assertEqual((done.returncode, done.stdout), (0, b"178257920\n"), done.stderr)

    def blocks_had(self, kind, kibibytes, options=()):
        """How many blocks of 1,000 bytes a program gets that takes all it can, bare and profiled,
        under a limit that the run itself sets."""
        program = ["/bin/sh", "-c", f'ulimit {kind} {kibibytes}; exec "$0" "$@"', UNTIL_REFUSED]
        bare = harness.run(program)
        done = self.profile(program, options)
        self.assertEqual((done.returncode, bare.returncode), (0, 0), done.stderr)
        return int(bare.stdout), int(done.stdout)

    def test_a_limit_that_is_set_within_the_run_bounds_the_tracker(self):
        # Descendants, an image that the program executes, and who set a limit for a child alone.
        for kind in ("-v", "-d"):
            for kibibytes in (1000000, 100000):
                for options in ([], ["--no-follow-fork"], ["--region", self.path("x.region"), "-f"]):
                    with self.subTest(kind=kind, kibibytes=kibibytes, options=options):
                        bare, had = self.blocks_had(kind, kibibytes, options)
                        self.assertGreater(had, bare * 3 // 4)
                        self.assert_rows_sum_to_totals(self.sites("x.memprof"))

    def test_a_limit_bounds_the_tracker_of_a_descendant_too(self):
        program = ["/bin/sh", "-c", '(ulimit -v 1000000; "$0"); true', UNTIL_REFUSED]
        done = self.profile(program)
        self.assertGreater(int(done.stdout), 800000)

    def test_memprof_without_memory_says_so_in_a_line(self):
        said = 0
        for mebibytes in range(16, 50, 2):
            with self.subTest(mebibytes=mebibytes):
                def little_memory():
                    # Without the right to raise its limits again, which root has.
                    ctypes.CDLL(None).prctl(24, 24, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_RESOURCE
                    limit(resource.RLIMIT_AS, mebibytes << 20)()
                done = self.profile([MANY_SITES], preexec_fn=little_memory)
                self.assertEqual(done.stdout, b"x")
                self.assertIn(done.returncode, (0, 125), done.stderr)
                if done.returncode != 0:
                    said += 1
                    self.assertRegex(done.stderr.decode(), r"(?m)^memprof: .*memory")
        self.assertGreater(said, 0)

    def test_a_report_without_memory_says_so_in_a_line(self):
        self.profile([MANY_SITES])
        said = 0
        for mebibytes in (15, 20, 25, 60):
            with self.subTest(mebibytes=mebibytes):
                done = harness.run([harness.MEMPROF, "merge", "-f", "-o", self.path("all.memprof"),
                                    self.path("x.memprof")],
                                   preexec_fn=limit(resource.RLIMIT_AS, mebibytes << 20))
                self.assertIn(done.returncode, (0, 3), done.stderr)
                if done.returncode != 0:
                    said += 1
                    self.assertRegex(done.stderr.decode(), r"^memprof: out of memory.*\n$")
        self.assertGreater(said, 0)

    def test_a_program_that_locks_its_memory_is_not_given_the_childrens_area(self):
        # mlockall makes all resident that may be accessed. This isn't done here: where it is wrong
        # the machine has no memory left.
        done = self.profile(["/bin/cat", "/proc/self/maps"])
        accessible = []
        for line in done.stdout.decode().splitlines():
            span, permissions = line.split()[:2]
            start, end = (int(address, 16) for address in span.split("-"))
            if permissions[:3] != "---":
                accessible.append(end - start)
        self.assertIn("memprof-children", done.stdout.decode())
        self.assertLess(max(accessible), 1 << 30)

    def test_what_a_program_locks_is_its_own_memory(self):
        with open(self.path("locks.c"), "w", encoding="ascii") as source:
            source.write("""
                #include <stdio.h>
                #include <stdlib.h>
                #include <string.h>
                #include <sys/mman.h>
                #include <sys/wait.h>
                #include <unistd.h>
                static char large[8 << 20];
                static int lock(int flags) {
                  char line[256];
                  const int status = mlockall(flags);
                  char* later = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                  unsigned char at[2] = {0, 0};
                  mincore((char*)((size_t)(large + (4 << 20)) & ~4095ul), 4096, at);
                  mincore(later + (2 << 20), 4096, at + 1);
                  FILE* file = fopen("/proc/self/status", "r");
                  while (fgets(line, sizeof line, file) && strncmp(line, "VmRSS", 5) != 0) {}
                  printf("%d %d %d %s", status, at[0] & 1, at[1] & 1, line + 6);
                  fflush(stdout);
                  return status;
                }
                int main(int count, char** words) {
                  free(malloc(100));
                  for (int child = 0; child < 2; ++child) {
                    lock(atoi(words[1]));
                    if (fork() != 0) return wait(NULL) < 0;
                    free(malloc(100));
                  }
                  return lock(atoi(words[1]));
                }""")
        subprocess.run(["gcc", "-w", "-o", self.path("locks"), self.path("locks.c")], check=True)
        for flags in (1, 3, 7):  # MCL_CURRENT, MCL_FUTURE too, MCL_ONFAULT too
            with self.subTest(flags=flags):
                bare = self.bare([self.path("locks"), str(flags)]).stdout.decode().splitlines()
                if not bare[0].startswith("0 "):
                    self.skipTest("not allowed here")
                done = self.profile([self.path("locks"), str(flags)])
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = done.stdout.decode().splitlines()
                self.assertEqual([line.split()[:3] for line in lines], [line.split()[:3] for line in bare])
                for line in lines:
                    self.assertLess(int(line.split()[3]), 128 << 10, line)

    def test_a_limit_on_locked_memory_is_warned_of_where_it_counts(self):
        for name, call in (("locks", "mlockall(MCL_CURRENT)"), ("not", "0")):
            with open(self.path(name + ".c"), "w", encoding="ascii") as source:
                source.write(f"#include <sys/mman.h>\nint main(void) {{ return {call} != 0; }}\n")
            subprocess.run(["gcc", "-o", self.path(name), self.path(name + ".c")], check=True)
        libc = ctypes.CDLL(None)
        with open("/proc/self/status", encoding="ascii") as status:
            effective, = (int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))

        def bounded(drops):
            def before():
                limit(resource.RLIMIT_MEMLOCK, 4 << 20)()
                if drops:
                    libc.prctl(24, 14, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_IPC_LOCK
            return before
        for name, drops, warned in (("locks", True, True), ("not", True, False),
                                    ("locks", False, effective >> 14 & 1 == 0)):
            with self.subTest(name=name, drops=drops):
                for command in (["run", "-f", "-o", self.path("x.memprof"), "--"], ["doctor"]):
                    done = harness.run([harness.MEMPROF, *command, self.path(name)], preexec_fn=bounded(drops))
                    said = " ".join((done.stderr + done.stdout).decode().split())
                    self.assertEqual("may call mlockall, and RLIMIT_MEMLOCK is 4.0 MiB" in said, warned, said)

    def as_somebody(self, processes):
        """Words before a command: a user of its own who may have so many processes."""
        words = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "prlimit",
                 f"--nproc={processes}:{processes}"]
        try:
            usable = harness.run([*words, harness.MEMPROF, "--version"]).returncode == 0
        except FileNotFoundError:
            usable = False
        if not usable:
            self.skipTest("needs setpriv, root, and a build that others may execute")
        os.chmod(self.directory, 0o777)
        return words

    def test_a_program_that_takes_all_processes_runs_as_ever(self):
        program = os.path.join(harness.PROGRAMS, "takes_all_processes")
        for processes in (4, 8, 12):
            with self.subTest(processes=processes):
                done = harness.run([*self.as_somebody(processes), harness.MEMPROF, "run", "-q", "-f",
                                    "-o", self.path("x.memprof"), program], timeout=120)
                self.assertEqual((done.returncode, done.stdout), (6, b"done\n"), done.stderr)
                profile = self.sites()
                self.assert_rows_sum_to_totals(profile)
                self.assertEqual(profile["tracker"]["dropped_events"], 0)

    def test_an_attach_without_a_thread_says_so(self):
        # The limit leaves room for memprof itself and for nobody else.
        words = self.as_somebody(2)
        with subprocess.Popen([*words, "sleep", "60"]) as sleeper:
            try:
                done = harness.run([*words, harness.MEMPROF, "attach", str(sleeper.pid), "--duration",
                                    "100ms", "-o", self.path("y.memprof")], timeout=60)
            finally:
                sleeper.kill()
        self.assertEqual(done.returncode, 125, done.stderr)
        if b"may not be traced" in done.stderr:
            self.skipTest("nobody but root may trace here")
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(b"RLIMIT_NPROC", done.stderr)

    def test_few_descriptors(self):
        done = self.profile([LEAKY], preexec_fn=limit(resource.RLIMIT_NOFILE, 32))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.leaks_as_ever()

    def test_more_children_at_once_than_descriptors(self):
        # Each lives until all were forked; some then execute a program that needs a descriptor.
        forks = ("import os, sys\n"
                 "ends = os.pipe()\n"
                 "def child():\n"
                 "    os.close(ends[1])\n"
                 "    os.read(ends[0], 1)\n"
                 "    if executes: os.execv('/bin/true', ['true'])\n"
                 "    os._exit(0)\n"
                 "for i in range(200):\n"
                 "    executes = sys.argv[1:] and i % 2\n"
                 "    if os.fork() == 0: child()\n"
                 "for end in ends: os.close(end)\n"
                 "for i in range(200): os.wait()\n")
        for executes in ((), ("some",)):
            with self.subTest(executes=executes):
                done = self.profile(["/usr/bin/python3", "-c", forks, *executes],
                                    preexec_fn=limit(resource.RLIMIT_NOFILE, 64))
                said = done.stderr.decode()
                self.assertEqual(done.returncode, 0, said)
                self.assertNotIn("still run", said)
                self.assertNotIn("no capture of", said)
                self.assertLessEqual(said.count("open files"), 1, said)
                stats = self.stats("x.all.memprof")
                missing = sum(one["count"] for one in stats["unseen"])
                if executes:
                    self.assertLessEqual(missing, 100, stats["unseen"])
                else:
                    self.assertEqual(missing, 0, stats["unseen"])
                    self.assertEqual(len(stats["sources"]), 201)

    def test_a_small_limit_on_files_neither_kills_nor_hangs(self):
        for size in (0, 1000):
            with self.subTest(size=size):
                done = self.profile([LEAKY], preexec_fn=limit(resource.RLIMIT_FSIZE, size))
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertRegex(done.stderr.decode().splitlines()[-1], r"^memprof: .*large")
                self.assertEqual(os.listdir(self.directory), [])

    def test_the_programs_own_status_wins_over_a_capture_that_could_not_be_written(self):
        for code, status in ((9, 9), (0, 125)):
            with self.subTest(code=code):
                os.mkdir(self.path("out"))
                done = harness.run(
                    [harness.MEMPROF, "run", "-q", "-o", self.path("out/x.memprof"), "--",
                     "/bin/sh", "-c", f"rm -r out; exit {code}"], cwd=self.directory)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertRegex(done.stderr.decode(), r"(?m)^memprof: .*out/x.memprof")

    def test_paths_with_spaces_and_colons_work(self):
        directory = self.path("a b:c")
        os.mkdir(directory)
        for name in ("bin", "lib"):
            os.symlink(os.path.join(harness.BUILD, name), os.path.join(directory, name))
        done = harness.run([os.path.join(directory, "bin", "memprof"), "run", "-q", "-o",
                            self.path("x y.memprof"), LEAKY], cwd=directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.leaks_as_ever("x y.memprof")

    def small_disk(self, kibibytes):
        mount = self.path("small")
        os.mkdir(mount)
        if os.geteuid() != 0 or harness.run(
                ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "none",
                 mount]).returncode != 0:
            self.skipTest("needs root and mount")
        self.addCleanup(subprocess.run, ["umount", "-l", mount], check=False)
        return mount

    def fill(self, mount):
        try:
            with open(os.path.join(mount, "filler"), "wb", buffering=0) as file:
                while file.write(b"x" * 512):
                    pass
        except OSError:
            pass

    def test_a_disk_that_fills_while_the_program_runs(self):
        mount = self.small_disk(64)
        capture = os.path.join(mount, "x.memprof")
        supervisor = subprocess.Popen(
            [harness.MEMPROF, "run", "-o", capture, "--checkpoint", "1", "--", UNTIL_KILLED,
             self.path("book"), "1"], cwd=self.directory, stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        self.addCleanup(supervisor.stderr.close)
        self.addCleanup(supervisor.wait)
        self.addCleanup(lambda: supervisor.poll() is None and supervisor.terminate())
        deadline = time.monotonic() + harness.TIMEOUT
        while not os.path.exists(capture):
            self.assertLess(time.monotonic(), deadline, "no checkpoint")
            time.sleep(0.05)
        self.fill(mount)
        time.sleep(1.5)  # a checkpoint that can't be written
        self.assertIsNone(supervisor.poll())
        supervisor.terminate()
        self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + 15)
        self.assertRegex(supervisor.stderr.read().decode(), r"memprof: .*No space left on device")
        # The last good checkpoint is whole, and there are no half-written files.
        self.assertEqual(sorted(os.listdir(mount)), ["filler", "x.memprof"])
        self.assert_rows_sum_to_totals(self.sites(capture))

    def test_a_region_file_that_does_not_fit_is_refused_at_once(self):
        mount = self.small_disk(256)
        done = self.profile([LEAKY], ["--region", os.path.join(mount, "x.region")])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr.decode(), r"^memprof: .*No space left on device")
        self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    unittest.main(verbosity=2)
