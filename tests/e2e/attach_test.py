"""memprof attach and detach: exact figures of a running program, and nothing left of it behind."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

import harness
from harness import BUILD, MEMPROF, PROGRAMS, MemprofTest, run

ATTACHED = re.compile(r"attached to (\d+) \(([^)]*)\), which stood still for ([0-9.]+) ms")


def may_trace():
    """Why no process can be traced here, or nothing."""
    with subprocess.Popen(["sleep", "20"]) as child:
        try:
            done = run([MEMPROF, "attach", str(child.pid), "--duration", "0"])
            done = run([MEMPROF, "attach", str(child.pid), "--duration", "1", "-o", "/dev/null", "-f"])
            said = done.stderr.decode()
            return said if "may not be traced" in said else ""
        finally:
            child.kill()


WHY_NOT = may_trace()


class Program:
    """tests/programs/attached_to, which does one thing a line."""

    def __init__(self, test, command=None):
        self.process = subprocess.Popen(command or [os.path.join(PROGRAMS, "attached_to")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        bufsize=1)
        self.pid = self.process.pid
        test.addCleanup(self.end)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        return self.process.stdout.readline().strip()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


HOOKED = re.compile(r"^(malloc|free|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc|valloc|"
                    r"pvalloc|_Zn[wa]\w*|_Zd[la]\w*|dl(m?open|v?sym|close)|pthread_setname_np|prctl|"
                    r"_ZSt15[gs]et_new_handler\w*)$")


def slots_of(pid, wanted=HOOKED):
    """The content of the slots of these functions, in all GOTs and wherever the loader filled them in."""
    content = {}
    modules = {}
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            words = line.split()
            if len(words) == 6 and words[5].startswith("/") and words[2] == "00000000":
                modules.setdefault(words[5], int(words[0].split("-")[0], 16))
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for path, base in modules.items():
            if "libmemprof" in path or "ld-linux" in path:
                continue
            listed = run(["readelf", "-rW", path]).stdout.decode(errors="replace")
            is_fixed = " EXEC " in run(["readelf", "-hW", path]).stdout.decode(errors="replace")
            for slot in re.finditer(r"^([0-9a-f]{12,16})\s+[0-9a-f]+ R_X86_64_(?:JUMP_SLOT|GLOB_DAT|64)\s+"
                                    r"[0-9a-f]+ ([^@\s]+)", listed, re.MULTILINE):
                if not wanted.match(slot[2]):
                    continue
                at = int(slot[1], 16) + (0 if is_fixed else base)
                memory.seek(at)
                content[(path, at)] = memory.read(8)
    return content


@unittest.skipIf(WHY_NOT, WHY_NOT)
class AttachTest(MemprofTest):
    def attach(self, pid, *flags, output="x.memprof"):
        """A memprof attach that counts by now."""
        process = subprocess.Popen([MEMPROF, "attach", str(pid), "-f", "-o", self.path(output), *flags],
                                   stderr=subprocess.PIPE, text=True, cwd=self.directory)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        said = process.stderr.readline()
        self.assertRegex(said, ATTACHED)
        return process

    def detach(self, attached, pid):
        said = self.memprof("detach", str(pid))
        self.assertEqual(attached.wait(30), 0, attached.stderr.read())
        return said

    def test_what_is_allocated_from_then_on_is_counted_exactly(self):
        program = Program(self)
        program.tell("grow 10")
        attached = self.attach(program.pid)
        program.tell("grow 100")
        program.tell("new 50")
        program.tell("shrink")  # 55 of 110: the 10 of before, and 45
        said = self.detach(attached, program.pid)
        self.assertIn("memprof summary", said)
        self.assertEqual(program.tell("grow 1"), "grow 56")
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        grown = [site for site in profile["sites"]
                 if any("Grow" in frame["function"] for frame in site["frames"])
                 and site["total"]["bytes"] == 1000 * site["total"]["allocations"]]
        self.assertEqual(sum(site["total"]["allocations"] for site in grown), 100)
        self.assertEqual(sum(site["leaked"]["allocations"] for site in grown), 55)
        new = [site for site in profile["sites"]
               if any("New(" in frame["function"] for frame in site["frames"]) and site["total"]["bytes"] == 2400]
        self.assertEqual([site["leaked"]["allocations"] for site in new], [50])
        self.assertEqual(profile["tracker"]["unknown_frees"], 0)
        self.assertGreaterEqual(profile["tracker"]["before_attach_frees"], 10)
        self.assertGreaterEqual(profile["tracker"]["before_attach_bytes"], 10000)
        self.assertEqual(profile["tracker"]["dropped_events"], 0)
        self.assertIn("[allocated before attach]", self.memprof("stats", self.path("x.memprof")))

    def test_a_block_of_before_that_is_reallocated_counts_from_then_on(self):
        program = Program(self)
        program.tell("grow 2")
        attached = self.attach(program.pid)
        program.tell("stretch")
        self.detach(attached, program.pid)
        stretched = [site for site in self.sites()["sites"] if site["total"]["bytes"] == 5000]
        self.assertEqual([site["leaked"] for site in stretched], [{"bytes": 5000, "allocations": 1}])

    def test_what_a_program_exports_by_names_of_libcs_is_never_called(self):
        program = Program(self, [os.path.join(PROGRAMS, "exports_libcs_names"), "wait"])
        self.assertEqual(program.process.stdout.readline(), "ready\n")
        attached = self.attach(program.pid)
        self.assertEqual(program.tell(""), "allocated")
        self.detach(attached, program.pid)
        self.assertEqual(program.process.communicate()[0], "child: 0 calls\nprogram: 0 calls\n")
        self.assertEqual(self.sites()["total"]["allocations"], 1)

    def test_detach_puts_every_slot_back_and_all_memory(self):
        program = Program(self)
        program.tell("grow 1")
        before = slots_of(program.pid)
        self.assertGreater(len(before), 30)
        every, sizes = {}, []
        for _ in range(3):
            attached = self.attach(program.pid)
            self.assertNotEqual(slots_of(program.pid), before)
            program.tell("grow 5")
            self.detach(attached, program.pid)
            self.assertEqual(slots_of(program.pid), before)
            # Others too, but what the first dlopen has bound lazily.
            after = slots_of(program.pid, re.compile(""))
            self.assertEqual(after, every or after)
            every = after
            with open(f"/proc/{program.pid}/status") as status:
                # The library stays, and with it what the first dlopen of it took.
                sizes.append(re.search(r"VmSize:\s+(\d+)", status.read())[1])
            self.assertEqual(sum(site["total"]["allocations"] for site in self.sites()["sites"]
                                 if any("Grow" in f["function"] for f in site["frames"])
                                 and site["total"]["bytes"] % 1000 == 0), 5)
        self.assertEqual(len(set(sizes)), 1, sizes)
        program.process.stdin.write("end\n")
        self.assertEqual(program.process.wait(10), 0)

    def test_a_module_that_is_loaded_later_is_hooked(self):
        program = Program(self)
        attached = self.attach(program.pid)
        self.assertEqual(program.tell("load " + os.path.join(PROGRAMS, "libattached_plugin.so")), "loaded")
        self.detach(attached, program.pid)
        taken = [site for site in self.sites()["sites"]
                 if any(frame["function"].startswith("take") for frame in site["frames"])]
        self.assertEqual(sum(site["leaked"]["bytes"] for site in taken), 7 * 333)

    def test_threads_that_allocate_all_the_time_go_on(self):
        program = Program(self)
        program.tell("threads 4")
        for _ in range(3):
            attached = self.attach(program.pid)
            time.sleep(0.2)
            self.detach(attached, program.pid)
            profile = self.sites()
            self.assert_rows_sum_to_totals(profile)
            self.assertEqual(profile["tracker"]["dropped_events"], 0)
            self.assertGreater(profile["total"]["allocations"], 1000)
        self.assertGreater(int(program.tell("calm").split()[1]), 1000)

    def test_a_thread_that_cannot_be_stopped_holds_up_no_other(self):
        program = Program(self, [os.path.join(PROGRAMS, "waits_in_vfork")])
        self.assertEqual(program.process.stdout.readline(), "ready\n")
        done = run([MEMPROF, "attach", str(program.pid), "--duration", "0.5", "-f", "-o",
                    self.path("x.memprof")])
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertLess(float(program.process.stdout.readline()), 1000)
        self.assertEqual(program.process.wait(30), 0)
        self.assertGreater(self.sites()["total"]["allocations"], 0)

    def test_one_whose_only_thread_waits_by_syscall_is_let_go(self):
        with open(self.path("waits.c"), "w", encoding="ascii") as source:
            source.write("#include <stdlib.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
                         "int main(void) { for (int i = 0; i < 300; ++i) {\n"
                         "free(malloc(100)); syscall(SYS_poll, 0, 0, 100); } }\n")
        subprocess.run(["gcc", "-w", "-o", self.path("waits"), self.path("waits.c")], check=True)
        program = Program(self, [self.path("waits")])
        time.sleep(0.3)
        done = run([MEMPROF, "attach", str(program.pid), "--duration", "1", "-f", "-o", self.path("x.memprof")])
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("detached from", done.stderr.decode())
        self.assertGreater(self.sites()["total"]["allocations"], 0)

    def test_a_duration_ends_it_and_so_does_a_signal(self):
        program = Program(self)
        attached = self.attach(program.pid, "--duration", "1")
        self.assertEqual(attached.wait(30), 0)
        self.assertIn("detached from", attached.stderr.read())
        began = time.monotonic()
        attached = self.attach(program.pid, "--duration", "0.2")
        self.assertEqual(attached.wait(30), 0)
        self.assertGreaterEqual(time.monotonic() - began, 0.2)
        self.assertIn("detached from", attached.stderr.read())
        attached = self.attach(program.pid)
        attached.send_signal(signal.SIGINT)
        self.assertEqual(attached.wait(30), 0)
        self.assertEqual(program.tell("grow 1"), "grow 1")
        self.assertEqual(json.loads(self.memprof("stats", "--json", self.path("x.memprof")))["end"]["kind"],
                         "running")

    def test_the_end_of_the_process_ends_it(self):
        program = Program(self)
        attached = self.attach(program.pid)
        program.tell("grow 3")
        program.process.stdin.write("end\n")
        program.process.wait(10)
        self.assertEqual(attached.wait(30), 0)
        self.assertIn(self.stats()["end"]["kind"], ("exit", "ended"))

    def test_one_whose_memprof_was_killed_is_let_go_all_the_same(self):
        program = Program(self)
        program.tell("grow 1")  # what it calls lazily is bound
        before = slots_of(program.pid)
        attached = self.attach(program.pid)
        attached.kill()
        attached.wait()
        program.tell("grow 20")
        self.assertIn("detached", self.memprof("detach", str(program.pid)))
        self.assertEqual(slots_of(program.pid), before)
        attached = self.attach(program.pid)
        self.detach(attached, program.pid)

    def test_a_forked_child_is_not_counted_and_can_be_attached_to(self):
        program = Program(self, ["/usr/bin/python3", "-c",
            "import os,sys\nfor l in sys.stdin:\n"
            " p = os.fork() if l == 'fork\\n' else 0\n"
            " if l == 'fork\\n' and p == 0:\n"
            "  import time; time.sleep(60); os._exit(0)\n"
            " print(p, flush=True)\n"])
        program.tell("begin")
        attached = self.attach(program.pid)
        child = int(program.tell("fork"))
        self.addCleanup(os.kill, child, signal.SIGKILL)
        other = self.attach(child, output="child.memprof")
        self.detach(other, child)
        self.detach(attached, program.pid)

    # --- refused ---------------------------------------------------------------------------------

    def refused(self, pid, *words, status=125):
        done = run([MEMPROF, "attach", str(pid), "-o", self.path("refused.memprof")])
        said = done.stderr.decode()
        self.assertEqual(done.returncode, status, said)
        self.assertEqual(said.count("\n"), 1, said)
        for word in words:
            self.assertIn(word, said)
        self.assertFalse(os.path.exists(self.path("refused.memprof")))

    def start(self, command):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def compiled(self, compiler, *flags):
        with open(self.path("waits.c"), "w") as source:
            source.write('#include <stdio.h>\nint main(void) { puts("up"); fflush(stdout); getchar(); }\n')
        done = run([compiler, *flags, "-o", self.path("waits"), self.path("waits.c")])
        if done.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(flags)}: {done.stderr.decode()}")
        process = self.start([self.path("waits")])
        process.stdout.readline()
        return process

    def test_what_is_no_process_is_refused(self):
        self.refused("x", "is no pid", status=2)
        self.refused(2 ** 22 + 1, "there is no process")
        done = subprocess.Popen(["true"])
        time.sleep(0.2)  # a zombie, until it is waited for
        self.refused(done.pid, "has ended")
        done.wait()

    def test_a_static_program_is_refused(self):
        self.refused(self.compiled("gcc", "-static").pid, "statically linked")

    def test_a_program_of_musl_is_refused(self):
        self.refused(self.compiled("musl-gcc").pid, "musl")

    def test_a_program_that_has_its_own_malloc_inside_is_refused(self):
        process = self.start([os.path.join(PROGRAMS, "attached_to")])
        with open(self.path("own.c"), "w") as source:
            source.write('#include <stdio.h>\n#include <stddef.h>\nvoid* malloc(size_t n) { return NULL; }\n'
                         'int main(void) { getchar(); }\n')
        run(["gcc", "-o", self.path("own"), self.path("own.c")], check=True)
        process = self.start([self.path("own")])
        time.sleep(0.2)
        self.refused(process.pid, "malloc in the program itself")

    def test_what_is_under_memprof_already_is_refused(self):
        process = self.start([MEMPROF, "run", "-q", "-o", self.path("y.memprof"), "--",
                              os.path.join(PROGRAMS, "attached_to")])
        process.stdin.write(b"grow 1\n")
        process.stdin.flush()
        process.stdout.readline()
        child = int(run(["pgrep", "-P", str(process.pid)]).stdout.split()[0])
        self.refused(child, "under memprof run already")
        process.stdin.write(b"end\n")
        process.stdin.flush()
        process.wait(20)
        program = Program(self)
        attached = self.attach(program.pid)
        self.refused(program.pid, "attached to already")
        self.detach(attached, program.pid)
        done = run([MEMPROF, "detach", str(program.pid)])
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"is not attached to", done.stderr)

    def test_a_stopped_and_a_traced_process_are_refused(self):
        process = self.start([os.path.join(PROGRAMS, "attached_to")])
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        self.refused(process.pid, "is stopped")
        process.send_signal(signal.SIGCONT)

    def test_one_that_filters_its_system_calls_is_refused(self):
        allow_all = ("import ctypes, struct, sys; libc = ctypes.CDLL(None)\n"
                     "rule = ctypes.create_string_buffer(struct.pack('<HBBI', 6, 0, 0, 0x7fff0000))\n"
                     "rules = struct.pack('<H6xQ', 1, ctypes.addressof(rule))\n"
                     "assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, rules, 0, 0) == 0\n"
                     "print('up', flush=True); sys.stdin.read()")
        process = self.start([sys.executable, "-c", allow_all])
        process.stdout.readline()
        self.refused(process.pid, "seccomp", "memprof run instead")

    # --- users -----------------------------------------------------------------------------------

    NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_root_attaches_to_another_user_s_process(self):
        os.chmod(self.directory, 0o755)
        copy = self.path("attached_to")
        shutil.copy(os.path.join(PROGRAMS, "attached_to"), copy)
        program = Program(self, self.NOBODY + [copy])
        program.tell("begin")
        attached = self.attach(program.pid)
        program.tell("grow 100")
        self.detach(attached, program.pid)
        self.assertEqual(sum(site["total"]["allocations"] for site in self.sites()["sites"]
                             if any("Grow" in frame["function"] for frame in site["frames"])
                             and site["total"]["bytes"] == 1000 * site["total"]["allocations"]), 100)

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_another_user_s_process_is_refused(self):
        place = self.path("installed")
        shutil.copytree(os.path.dirname(MEMPROF), os.path.join(place, "bin"))
        shutil.copytree(os.path.join(BUILD, "lib"), os.path.join(place, "lib"))
        for path in (self.directory, place):
            os.chmod(path, 0o755)
        os.mkdir(self.path("theirs"))
        os.chown(self.path("theirs"), 65534, 65534)
        program = Program(self)
        program.tell("begin")
        done = run(self.NOBODY + [os.path.join(place, "bin", "memprof"), "attach", str(program.pid),
                                  "-o", self.path("theirs/refused.memprof")])
        said = done.stderr.decode()
        self.assertEqual((done.returncode, said.count("\n")), (125, 1), said)
        self.assertIn("belongs to another user", said)
        self.assertEqual(program.tell("grow 1"), "grow 1")

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_root_is_not_told_to_be_root(self):
        program = Program(self, self.NOBODY + ["sleep", "100"])
        time.sleep(0.2)
        done = run(["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", "--", MEMPROF,
                    "attach", str(program.pid), "-o", self.path("refused.memprof")])
        said = done.stderr.decode()
        self.assertEqual((done.returncode, said.count("\n")), (125, 1), said)
        self.assertNotIn("as root", said.replace("runs as root", ""))
        self.assertIn("CAP_SYS_PTRACE", said)


if __name__ == "__main__":
    unittest.main()
