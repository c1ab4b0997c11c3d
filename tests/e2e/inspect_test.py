#!/usr/bin/python3
"""memprof inspect: the blocks that tests/programs/inspected.cc loses and holds are told apart, with each
allocator, and the program notices nothing."""
import collections
import fcntl
import glob
import json
import os
import re
import signal
import struct
import subprocess
import time
import unittest
import xml.etree.ElementTree

import harness

ALLOCATORS = {"glibc": None, "jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
              "mimalloc": "libmimalloc.so.2"}
FIGURES = ("lost_directly", "lost_indirectly", "reachable", "inherited", "unknown")
# By function: blocks that are lost directly, indirectly, and held.
ANSWER = {
    "LoseSingles": (10, 0, 0),
    "LoseList": (1, 19, 0),
    "LoseTree": (1, 30, 0),
    "LoseCycle": (1, 3, 0),
    "LoseSharedPointers": (1, 1, 0),
    "LoseByFreedHolder": (1, 0, 0),
    "LoseByWrongPointers": (2, 0, 0),
    "LoseObjects": (3, 0, 0),
    "HoldByGlobal": (0, 0, 10),
    "HoldByInterior": (0, 0, 1),
    "HoldByMapping": (0, 0, 5),
    "HoldBySealedMapping": (0, 0, 3),
    "HoldOutOfCopies": (0, 0, 2),
    "HoldByLocal": (0, 0, 1),
    "NewNode": (0, 0, 50),
    "HoldObjects": (0, 0, 12),
    "HoldByUniquePointers": (0, 0, 32),
    "HoldOnOtherStack": (0, 0, 5),
    "HoldOnStaticStack": (0, 0, 3),
    "HoldInRegister": (0, 0, 1),
    "EndedThread": (1, 0, 0),
}


class InspectTest(harness.MemprofTest):
    def start(self, command, flags=(), **options):
        """Runs a program until it prints a line; returns memprof's process and the program's pid."""
        options.setdefault("stdin", subprocess.PIPE)
        process = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--", *command],
            cwd=self.directory, stdout=subprocess.PIPE, **options)
        self.addCleanup(self.stop, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process, int(self.children_of(process.pid).split()[0])

    def children_of(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return file.read().strip()

    def stop(self, process):
        if process.poll() is None:
            process.stdin.close()
            process.wait(harness.TIMEOUT)
        process.stdout.close()

    def inspect(self, pid, *options, **more):
        return json.loads(self.memprof("inspect", str(pid), "-q", "--json", *options, **more))

    def assert_sums(self, found):
        for unit in ("bytes", "allocations"):
            for row in [found, *found["places"]]:
                self.assertEqual(sum(row[figure][unit] for figure in FIGURES), row["live"][unit])
            for figure in (*FIGURES, "live", "lost_in_cycles"):
                self.assertEqual(sum(place[figure][unit] for place in found["places"]),
                                 found[figure][unit], figure)
            self.assertEqual(sum(path["held"][unit] for path in found["paths"]),
                             found["reachable"][unit])

    def blocks(self, found):
        by_function = collections.defaultdict(lambda: (0, 0, 0))
        for place in found["places"]:
            figures = [place[figure]["allocations"]
                       for figure in ("lost_directly", "lost_indirectly", "reachable")]
            name = place["function"].split("(")[0]
            by_function[name] = tuple(map(sum, zip(by_function[name], figures)))
        return by_function

    def library(self, name):
        paths = glob.glob(f"/usr/lib/x86_64-linux-gnu/{name}")
        if not paths:
            self.skipTest(f"there is no {name}")
        return paths[0]

    def check_allocator(self, library):
        environment = dict(os.environ)
        if library:
            environment["LD_PRELOAD"] = self.library(library)
        process, pid = self.start([os.path.join(harness.PROGRAMS, "inspected")], env=environment)
        found = self.inspect(pid)
        self.assert_sums(found)
        blocks = self.blocks(found)
        self.assertEqual({name: blocks[name] for name in ANSWER}, ANSWER)
        self.assertEqual(found["unknown"]["allocations"], 0)
        self.assertEqual(found["lost_in_cycles"]["allocations"], 5)
        self.assertEqual(blocks["HoldMap"][:2], (0, 0))
        # The node of a string, the string, the table and the buckets.
        self.assertEqual(blocks["HoldMap"][2], 202)
        self.assertEqual(self.blocks(self.inspect(pid, "--stop")), blocks)
        self.stop(process)
        self.assertEqual(process.returncode, 0)
        # What was live when it stood is what the run counted, to the byte.
        leaked = self.stats()["leaked"]
        self.assertEqual((found["live"]["bytes"], found["live"]["allocations"]),
                         (leaked["bytes"], leaked["allocations"]))

    def test_the_pages_that_would_go_back(self):
        # mimalloc gives back some time later otherwise, and what it did was not known.
        for name, library in ALLOCATORS.items():
            # tcmalloc's caches keep some hundred blocks of a size, and so their slabs.
            for size in (200, 24) if name == "tcmalloc" else (200, 24, 1000, 3000):
                with self.subTest(f"{name}, {size} bytes"):
                    self.check_pages(library, size)

    def check_pages(self, library, size):
        environment = {**os.environ, "MIMALLOC_DECOMMIT_DELAY": "0"}
        if library:
            environment["LD_PRELOAD"] = self.library(library)
        process, pid = self.start([os.path.join(harness.PROGRAMS, "pinned_pages"), "64", str(size)],
                                  env=environment)
        found = self.inspect(pid)
        places = {place["function"]: place["pages"] for place in found["places"]}
        self.assertEqual(sum(pages["free_bytes"] for pages in places.values()),
                         found["pages"]["free_bytes"])
        text = self.memprof("inspect", str(pid), "-q", "--once")
        self.assertRegex(text, r"[0-9.]+ [KM]iB of resident memory is free, on pages that live blocks keep")
        process.stdin.write(b"\n")
        process.stdin.flush()
        fell = int(process.stdout.readline())
        self.assertAlmostEqual(fell / places["Kept"]["alone_bytes"], 1, delta=0.05)
        self.stop(process)

    def test_a_program_that_handles_its_faults_is_let_alone(self):
        try:
            process, pid = self.start([os.path.join(harness.PROGRAMS, "handles_faults")])
        except AssertionError:
            self.skipTest("userfaultfd isn't permitted here")
        run = subprocess.run([harness.MEMPROF, "inspect", str(pid)], capture_output=True, text=True,
                             timeout=harness.TIMEOUT, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("handles page faults itself (userfaultfd)", run.stderr)
        self.stop(process)
        self.assertEqual(process.returncode, 0)

    def test_paths_end_at_the_root_that_holds(self):
        _, pid = self.start([os.path.join(harness.PROGRAMS, "inspected")])
        found = self.inspect(pid)
        roots = {}
        for path in found["paths"]:
            for part in path["path"][1:]:
                roots.setdefault(part.split("(")[0].split(" ")[0], set()).add(path["path"][0])
        self.assertEqual(roots["HoldByGlobal"], {"global (inspected, .bss)"})
        self.assertEqual(roots["HoldByMapping"], {"memory that the program mapped"})
        self.assertEqual(roots["HoldByLocal"], {"stack of thread inspected"})
        self.assertEqual(roots["HoldOnOtherStack"], {"stack of thread inspected"})
        self.assertEqual(roots["HoldInRegister"], {"registers of thread inspected"})

    def test_it_says_what_blocks_are(self):
        _, pid = self.start([os.path.join(harness.PROGRAMS, "inspected")])
        found = self.inspect(pid)
        kinds = {place["function"].split("(")[0]: place["kind"] for place in found["places"]}
        for name, kind in {"LoseObjects": "shapes::Circle", "HoldObjects": "shapes::Circle",
                           "LoseSharedPointers": "Shared", "LoseSingles": "", "NewNode": ""}.items():
            self.assertEqual(kinds[name], kind, name)
        parts = {part for path in found["paths"] for part in path["path"]}
        for kind in ("std::unordered_map<int, std::string> node", "std::unordered_map<int, std::string> buckets",
                     "std::string"):
            self.assertTrue(any(part.startswith(kind + ", HoldMap") for part in parts), (kind, parts))
        self.assertIn("LoseObjects() (shapes::Circle)", self.memprof("inspect", str(pid), "-q", "-n", "0"))

    def test_the_text_fits_on_a_screen_and_names_what_is_lost(self):
        _, pid = self.start([os.path.join(harness.PROGRAMS, "inspected")])
        text = self.memprof("inspect", str(pid), "-q")
        self.assertLess(text.count("\n"), 50)
        self.assertIn("lost for good, by place", text)
        self.assertIn("LoseList", text)
        self.assertIn("list (inspected, .bss) → ", text)

    def test_a_capture_keeps_the_answer(self):
        process, pid = self.start([os.path.join(harness.PROGRAMS, "inspected")])
        kept = self.path("kept.memprof")
        found = self.inspect(pid, "-o", kept)
        text = self.memprof("inspect", str(pid), "-q", "-o", self.path("other.memprof"))
        self.assertIn("-f", self.refused(pid, "-o", kept))
        self.stop(process)
        self.assertEqual(json.loads(self.memprof("inspect", kept, "--json")), found)
        self.assertEqual(self.memprof("inspect", self.path("other.memprof")), text)
        self.assertLess(os.path.getsize(kept), 40000)
        # It is a capture of that moment: the same was live.
        self.assertEqual(self.stats(kept)["leaked"]["bytes"], found["live"]["bytes"])
        # Also with its names inside, and without them.
        self.memprof("symbolize", kept, "-o", self.path("named.memprof"))
        self.assertEqual(json.loads(self.memprof("inspect", self.path("named.memprof"), "--json")),
                         found)
        self.memprof("merge", kept, "x.memprof", "-o", self.path("sum.memprof"))
        for without in ("sum.memprof", "x.memprof"):
            self.assertIn("no inspection is in this capture", self.refused(self.path(without)))
        # A budget can limit it.
        with open(self.path("memprof.toml"), "w", encoding="utf-8") as file:
            file.write("[budget]\nlost = 0\n")
        over = self.memprof("check", kept, "--budget", "memprof.toml", "--format", "json",
                            status=1)
        self.assertEqual(json.loads(over)["captures"][0]["checks"][0]["value"],
                         sum(found[figure]["bytes"] for figure in FIGURES[:2]))
        self.assertIn("LoseList", over)
        self.assertIn("lost not judged: no inspection",
                      self.memprof("check", "x.memprof", "--budget", "memprof.toml"))
        self.assertIn("its run has ended", self.refused(kept, "-o", self.path("again.memprof")))
        self.assertFalse(os.path.exists(self.path("again.memprof")))

    def test_memcheck_finds_the_same(self):
        file = self.path("memcheck.xml")
        done = self.bare(["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
                          "--xml=yes", f"--xml-file={file}", os.path.join(harness.PROGRAMS, "inspected")])
        self.assertEqual(done.returncode, 0, done.stderr)
        found = collections.defaultdict(lambda: [0, 0])
        kinds = ("Leak_DefinitelyLost", "Leak_IndirectlyLost")
        for error in xml.etree.ElementTree.parse(file).getroot().iter("error"):
            own = [frame.findtext("fn") for frame in error.find("stack").iter("frame")
                   if frame.findtext("file") == "inspected.cc"]
            blocks = int(error.findtext("xwhat/leakedblocks"))
            found[own[0].split("(")[0]][kinds.index(error.findtext("kind"))] += blocks
        self.assertEqual(found.pop("HoldBySealedMapping"), [3, 0])  # it looks only at what can be written
        self.assertEqual(dict(found), {name: list(answer[:2]) for name, answer in ANSWER.items()
                                       if any(answer[:2])})

    def test_leak_sanitizer_finds_the_same(self):
        program = self.path("inspected")
        subprocess.run(["g++", "-fsanitize=leak", "-g", "-O1", "-fno-builtin", "-fno-inline", "-w",
                        "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-fno-allocation-dce", os.path.join(harness.SOURCES, "inspected.cc"), "-o",
                        program, "-lpthread"], check=True)
        done = self.bare([program])
        found = collections.defaultdict(lambda: [0, 0])
        for part in re.split(r"\n(?=Direct leak|Indirect leak)", done.stderr.decode()):
            leak = re.match(r"(Direct|Indirect) leak of \d+ byte\(s\) in (\d+) object", part)
            if leak is None:
                continue
            own = re.search(r" in (\w+)[^\n]* /\S*inspected\.cc", part)
            self.assertIsNotNone(own, part)
            found[own[1]][leak[1] == "Indirect"] += int(leak[2])
        # It doesn't look at memory that the program mapped.
        for name in ("HoldByMapping", "HoldBySealedMapping", "HoldOutOfCopies"):
            self.assertEqual(found.pop(name), [ANSWER[name][2], 0])
        expected = {name: list(answer[:2]) for name, answer in ANSWER.items() if any(answer[:2])}
        # It calls all blocks of a cycle indirectly lost.
        for name in ("LoseCycle", "LoseSharedPointers"):
            expected[name] = [0, sum(expected[name])]
        self.assertEqual(dict(found), expected)

    def test_the_program_notices_nothing(self):
        # It counts signals and children, and prints what its calls return.
        source = self.path("watched.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(r"""
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int children, alarms;
static void on_child(int n) { children++; }
static void on_alarm(int n) { alarms++; }
static int descriptors(void) {
  int count = 0;
  DIR* dir = opendir("/proc/self/fd");
  while (readdir(dir)) ++count;
  closedir(dir);
  return count;
}
int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  signal(SIGCHLD, on_child);
  if (argc > 1) {
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
  }
  int epoll = epoll_create(1), bad = 0, seen = 0, before = descriptors();
  struct epoll_event event;
  struct pollfd in = {0, POLLIN, 0};
  write(1, "ready\n", 6);
  while (poll(&in, 1, 0) <= 0) {
    free(malloc(100));
    int result = epoll_wait(epoll, &event, 1, 20);
    if (result != 0 && (argc == 1 || errno != EINTR)) ++bad;
    if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) ++seen;
  }
  printf("bad %d, children %d, seen %d, descriptors %d\n", bad, children, seen,
         descriptors() - before);
}
""")
        subprocess.run(["gcc", "-w", "-O1", source, "-o", self.path("watched")], check=True)
        for arguments in ((), ("storm",)):
            process, pid = self.start([self.path("watched"), *arguments])
            for i in range(10):
                self.memprof("inspect", str(pid), "-q", "--json", *(["--stop"] if i % 3 == 0 else []))
            # An inspector that is killed leaves the program as it was, too.
            for wait in (0.02, 0.04, 0.06, 0.08, 0.1, 0.15):
                for how in ([], ["--stop"]):
                    killed = subprocess.Popen([harness.MEMPROF, "inspect", str(pid), "-q", *how],
                                              cwd=self.directory, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL)
                    time.sleep(wait)
                    killed.kill()
                    killed.wait()
            deadline = time.monotonic() + 20
            while self.children_of(pid) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(self.children_of(pid), "")
            out, _ = process.communicate(b"x", timeout=harness.TIMEOUT)
            self.assertEqual(out, b"bad 0, children 0, seen 0, descriptors 0\n")
            self.assertEqual(process.returncode, 0)

    def test_a_stopped_program_stays_stopped(self):
        process, pid = self.start([os.path.join(harness.PROGRAMS, "inspected")])

        def go_on():
            for each in (pid, process.pid):
                os.kill(each, signal.SIGCONT)

        try:
            os.kill(pid, signal.SIGSTOP)
            # Its memprof run stops with it, as a shell's job, and answers nobody.
            deadline = time.monotonic() + 20
            while self.state_of(process.pid) != "T" and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertIn("doesn't answer", self.refused(pid))
            self.assertEqual(self.state_of(pid), "T")
        finally:
            go_on()
        self.assertGreater(self.inspect(pid)["live"]["bytes"], 0)
        self.stop(process)
        self.assertEqual(process.returncode, 0)

    def state_of(self, pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def refused(self, pid, *options):
        done = harness.run([harness.MEMPROF, "inspect", str(pid), *options], cwd=self.directory)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def test_what_cannot_be_inspected_is_refused(self):
        inspected = os.path.join(harness.PROGRAMS, "inspected")
        _, pid = self.start([inspected], ("--sample", "4096"))
        self.assertIn("without --sample", self.refused(pid))
        self.assertIn("not run by memprof", self.refused(os.getpid()))
        _, pid = self.start([inspected])
        self.assertIn("--max-pause", self.refused(pid, "--max-pause", "0.001"))
        self.assertIn("none of the run's", self.refused(pid, "--process", "1"))

    def test_a_program_that_filters_its_system_calls_is_refused(self):
        source = self.path("filters.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(r"""
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void* volatile held;
int main(void) {
  held = malloc(100);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, 2, &program);
  write(1, "ready\n", 6);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
}
""")
        subprocess.run(["gcc", "-w", source, "-o", self.path("filters")], check=True)
        process, pid = self.start([self.path("filters")])
        self.assertIn("--stop", self.refused(pid))
        self.assertEqual(self.inspect(pid, "--stop")["live"]["bytes"], 100)
        self.stop(process)
        self.assertEqual(process.returncode, 0)

    def test_a_program_that_executes_another_keeps_its_locks(self):
        source = self.path("executes.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void** list;
int main(int argc, char** argv) {
  if (argc == 2) {
    int fd = open("lock", O_RDWR | O_CREAT, 0600);
    struct flock lock = {.l_type = F_WRLCK};
    fcntl(fd, F_SETLK, &lock);
    for (int i = 0; i < 1000000; ++i) {
      void** node = malloc(16);
      *node = list;
      list = node;
    }
  }
  write(1, "ready\n", 6);
  char byte;
  read(0, &byte, 1);
  if (argc == 2) execl(argv[0], argv[0], "x", "y", NULL);
}
""")
        subprocess.run(["gcc", "-w", "-O1", source, "-o", self.path("executes")], check=True)

        def is_locked():
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
            with open(self.path("lock"), "r+b") as file:
                return struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, lock))[0] != fcntl.F_UNLCK

        process, pid = self.start([self.path("executes"), "x"])
        looking = subprocess.Popen([harness.MEMPROF, "inspect", str(pid), "--once", "--json"],
                                   cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(b"stopping", looking.stderr.readline())
        while len(self.children_of(pid)) == 0 and looking.poll() is None:
            time.sleep(0.001)
        self.assertTrue(is_locked())
        process.stdin.write(b"\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"ready\n")
        out, error = looking.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(looking.returncode, 0, error)
        self.assertEqual(json.loads(out)["live"]["allocations"], 1000000)
        self.assertTrue(is_locked())
        self.assertEqual(self.children_of(pid), "")

    def test_a_program_that_left_its_namespaces_makes_children_as_before(self):
        source = self.path("leaves.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile held;
int main(void) {
  held = malloc(100);
  if (unshare(CLONE_NEWPID) != 0) return 77;
  write(1, "ready\n", 6);
  char byte;
  read(0, &byte, 1);
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      printf("child %d\n", getpid());
      fflush(stdout);
      sleep(1);
      _exit(0);
    }
    if (child < 0) perror("fork");
    usleep(100000);
  }
  return 0;
}
""")
        subprocess.run(["gcc", "-w", source, "-o", self.path("leaves")], check=True)
        if harness.run([self.path("leaves")], stdin=subprocess.DEVNULL).returncode == 77:
            self.skipTest("namespaces may not be left")
        process, pid = self.start([self.path("leaves")])
        self.assertIn("--stop", self.refused(pid))
        self.assertEqual(self.inspect(pid, "--stop")["live"]["bytes"], 100)
        process.stdin.close()
        self.assertEqual([process.stdout.readline() for _ in range(2)], [b"child 1\n", b"child 2\n"])
        process.wait(harness.TIMEOUT)


def add(name, library):
    setattr(InspectTest, f"test_tells_lost_blocks_from_held_ones_with_{name}",
            lambda self: self.check_allocator(library))


for each, file_name in ALLOCATORS.items():
    add(each, file_name)

if __name__ == "__main__":
    unittest.main()
