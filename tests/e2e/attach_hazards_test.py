"""What may happen to a program while memprof attaches to it, counts in it or detaches from it."""
import os
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

import attach_test
from harness import MEMPROF, PROGRAMS, MemprofTest, run


@unittest.skipIf(attach_test.WHY_NOT, attach_test.WHY_NOT)
class AttachHazardsTest(MemprofTest):
    attach = attach_test.AttachTest.attach

    # --- ends ------------------------------------------------------------------------------------

    # Many threads with long stacks, so that a look at all of them takes a while.
    MANY_THREADS = ("import threading, time\n"
                    "def wait(depth):\n"
                    "    wait(depth - 1) if depth else forever.wait()\n"
                    "forever = threading.Event()\n"
                    "for i in range(200): threading.Thread(target=wait, args=(40,)).start()\n"
                    "print('up', flush=True)\n"
                    "while True: blocks = [bytearray(1000) for i in range(100)]; time.sleep(0.001)\n")

    def killed_as_it_is_looked_at(self, pause_ms, begin):
        """What memprof says, and its status, if the program is killed so long after it was stopped."""
        for _ in range(20):
            killed = self.killed_if_seen(pause_ms, begin)
            if killed is not None:
                return killed
        self.fail("the program was never seen to stand still")

    def killed_if_seen(self, pause_ms, begin):
        """None if it stood still for so short a time that nobody here saw it: other tests run, too."""
        program = attach_test.Program(self, ["/usr/bin/python3", "-c", self.MANY_THREADS])
        self.assertEqual(program.process.stdout.readline(), "up\n")
        memprof = begin(program)
        give_up = time.monotonic() + 10
        with open(f"/proc/{program.pid}/stat", encoding="ascii") as stat:
            while ") t " not in stat.read():
                stat.seek(0)
                if memprof.poll() is not None or time.monotonic() > give_up:
                    program.process.kill()
                    said = memprof.communicate(timeout=60)[1]
                    self.assertEqual(memprof.returncode, 0, said)
                    os.remove(self.path("x.memprof"))
                    return None
        time.sleep(pause_ms / 1000)
        program.process.kill()
        program.process.wait()
        said = memprof.communicate(timeout=60)[1]
        return memprof.returncode, said

    def test_a_thread_that_stops_late_with_the_loaders_lock_is_not_kept(self):
        """Kept, it would hold up the call in another thread for half a minute, and that one would die."""
        program = attach_test.Program(self, [os.path.join(PROGRAMS, "loads_when_idle")])
        self.assertEqual(program.process.stdout.readline(), "up\n")
        for _ in range(4):
            start = time.monotonic()
            done = run([MEMPROF, "attach", str(program.pid), "-f", "-q", "-o", self.path("x.memprof"),
                        "--duration", "0.3"], cwd=self.directory)
            # It may find no moment: the loader is busy most of the time.
            self.assertIn(done.returncode, (0, 125), done.stderr)
            self.assertNotIn(b"waits for another one", done.stderr)
            self.assertLess(time.monotonic() - start, 28)
        program.process.send_signal(signal.SIGTERM)
        self.assertEqual(program.process.stdout.readline(), "fine\n")
        self.assertEqual(program.process.wait(60), 0)

    def test_one_that_is_killed_as_memprof_detaches_leaves_its_capture(self):
        def begin(program):
            attached = self.attach(program.pid)
            self.assertFalse(os.path.exists(self.path("x.memprof")))
            time.sleep(0.1)
            attached.send_signal(signal.SIGINT)
            return attached

        for pause_ms in (0, 1, 2, 4, 8, 16):
            status, said = self.killed_as_it_is_looked_at(pause_ms, begin)
            self.assertEqual(status, 0, said)
            self.assertNotIn("could not be let go", said)
            self.assertGreater(self.sites()["total"]["allocations"], 0)
            os.remove(self.path("x.memprof"))

    def test_one_that_is_killed_as_memprof_attaches_is_said_to_have_ended(self):
        def begin(program):
            return subprocess.Popen([MEMPROF, "attach", str(program.pid), "-f", "-o", self.path("x.memprof")],
                                    stderr=subprocess.PIPE, text=True)

        for pause_ms in (0, 1, 2, 4, 8, 16):
            status, said = self.killed_as_it_is_looked_at(pause_ms, begin)
            if status == 125:
                self.assertRegex(said, r"^memprof: process \d+ has ended\n$")
            else:
                self.assertEqual(status, 0, said)
                self.assertIn("the program was ended by SIGKILL", said)

    # --- executes another program ----------------------------------------------------------------

    def executes(self, *flags):
        """What memprof says of a shell that allocates and then executes sleep."""
        shell = subprocess.Popen(["bash", "-c", "for i in {1..1000}; do a[i]=$i; done; read; "
                                  "for i in {1..1000}; do b[i]=$i; done; exec sleep 100"],
                                 stdin=subprocess.PIPE)
        self.addCleanup(lambda: (shell.kill(), shell.wait(), shell.stdin.close()))
        time.sleep(0.3)
        attached = self.attach(shell.pid, *flags)
        shell.stdin.write(b"\n")
        shell.stdin.flush()
        return shell, attached

    def test_the_exec_of_another_program_ends_it(self):
        shell, attached = self.executes()
        said = attached.communicate(timeout=30)[1]
        self.assertEqual(attached.returncode, 0, said)
        self.assertIn(f"{shell.pid} (bash) has executed another program: the capture ends there", said)
        self.assertNotIn("could not be let go", said)
        self.assertEqual(self.stats()["end"]["kind"], "exec")
        self.assertGreater(self.sites()["total"]["allocations"], 1000)
        self.assertIsNone(shell.poll())

    def test_an_exec_just_before_the_detach_is_said(self):
        # Before the next look of memprof's that would see it.
        shell, attached = self.executes()
        with open(f"/proc/{shell.pid}/comm", encoding="ascii") as name:
            while name.read() != "sleep\n":
                name.seek(0)
        attached.send_signal(signal.SIGINT)
        said = attached.communicate(timeout=30)[1]
        self.assertEqual(attached.returncode, 0, said)
        self.assertIn(f"{shell.pid} (bash) has executed another program: the capture ends there", said)
        self.assertEqual(self.stats()["end"]["kind"], "exec")
        self.assertGreater(self.sites()["total"]["allocations"], 1000)

    # --- locked memory ---------------------------------------------------------------------------

    def resident_kib(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])

    def test_one_that_locks_its_memory_keeps_the_trackers_unlocked(self):
        # before the attach, and during it: MCL_FUTURE, MCL_CURRENT too, MCL_ONFAULT too
        for flags in ((2, 0), (3, 0), (7, 0), (0, 1), (0, 2), (0, 3)):
            with self.subTest(flags=flags):
                program = attach_test.Program(self)
                if flags[0] and program.tell(f"lock {flags[0]}") != "lock 0":
                    self.skipTest("not allowed here")
                before = self.resident_kib(program.pid)
                attached = self.attach(program.pid)
                if flags[1] and program.tell(f"lock {flags[1]}") != "lock 0":
                    self.skipTest("not allowed here")
                program.tell("threads 3")  # each gets tables
                program.tell("calm")
                program.tell("grow 100")
                self.assertLess(self.resident_kib(program.pid), before + (64 << 10))
                attach_test.AttachTest.detach(self, attached, program.pid)
                self.assertGreaterEqual(self.sites()["total"]["allocations"], 100)
                program.end()

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_one_that_may_lock_no_more_is_refused_and_goes_on(self):
        program = attach_test.Program(self, ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "--",
                                             "prlimit", f"--memlock={4 << 20}:", "--",
                                             os.path.join(PROGRAMS, "attached_to")])
        self.assertEqual(program.tell("lock 2"), "lock 0")
        program.tell("grow 1")
        for _ in range(2):
            done = run([MEMPROF, "attach", str(program.pid), "-o", self.path("x.memprof")])
            said = done.stderr.decode()
            self.assertEqual((done.returncode, said.count("\n")), (125, 1), said)
            self.assertIn("it locks its memory", said)
            self.assertFalse(os.path.exists(self.path("x.memprof")))
        self.assertEqual(program.tell("grow 10"), "grow 11")
        if run(["prlimit", "--memlock=unlimited", "--pid", str(program.pid)]).returncode != 0:
            return  # a container without CAP_SYS_RESOURCE
        attached = self.attach(program.pid)
        program.tell("grow 100")
        attach_test.AttachTest.detach(self, attached, program.pid)
        self.assertGreaterEqual(self.sites()["total"]["allocations"], 100)

    # --- other file systems ----------------------------------------------------------------------

    def behind(self, *hidden, user=(), python="/usr/bin/python3"):
        """A program that has its own directories at these places, and maybe its own executable there."""
        mounts = " && ".join(f"mount -t tmpfs none {place}" for place in hidden)
        if python != "/usr/bin/python3":
            mounts += f" && cp /usr/bin/python3 {python}"
        if os.geteuid() != 0 or run(["unshare", "--mount", "sh", "-c", mounts]).returncode != 0:
            self.skipTest("nothing may be mounted here")
        program = attach_test.Program(self, [
            "unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh", *user, python, "-c",
            "import sys\nfor line in sys.stdin: print(len([bytearray(1000) for i in range(100)]), flush=True)"])
        self.assertEqual(program.tell("begin"), "100")
        return program

    def test_one_with_its_own_tmp_is_attached_to_all_the_same(self):
        for user in ((), attach_test.AttachTest.NOBODY):
            with self.subTest(user=user):
                program = self.behind("/tmp", user=user)
                attached = self.attach(program.pid)
                program.tell("go")
                attach_test.AttachTest.detach(self, attached, program.pid)
                self.assertGreaterEqual(self.sites()["total"]["allocations"], 100)

    def test_one_whose_own_files_are_not_memprofs_is_unwound_by_its_own(self):
        # By the same name memprof sees a file that is no executable.
        other = tempfile.NamedTemporaryFile(dir="/tmp")
        self.addCleanup(other.close)
        program = self.behind("/tmp", python=other.name)
        attached = self.attach(program.pid)
        program.tell("go")
        attach_test.AttachTest.detach(self, attached, program.pid)
        self.assertGreaterEqual(self.sites()["total"]["allocations"], 100)

    def test_one_that_shares_no_directory_with_memprof_is_left_alone(self):
        program = self.behind("/tmp", "/run", "/dev/shm")
        attach_test.AttachTest.refused(self, program.pid, "can't reach memprof", "PrivateTmp", "nsenter")
        with open(f"/proc/{program.pid}/maps", encoding="utf-8") as maps:
            self.assertNotIn("libmemprof", maps.read())
        self.assertEqual(program.tell("go"), "100")

    # --- interrupted calls -----------------------------------------------------------------------

    def interrupted(self, *call):
        program = attach_test.Program(self, [os.path.join(PROGRAMS, "interrupted_calls"), *call])
        said = program.process.stdout.readline()
        if said == "none\n":
            self.skipTest("no io_uring here")
        self.assertEqual(said, "ready\n")
        for _ in range(4):
            self.memprof("attach", str(program.pid), "-q", "--duration", "0.05", "-f", "-o", "x.memprof")
        said = program.tell("end")
        calls, interrupted = re.match(r"(\d+) calls, (\d+) interrupted", said).groups()
        self.assertGreaterEqual(int(calls), 1)
        self.assertEqual(int(interrupted), 0)

    def test_signals_that_nobody_handles_interrupt_no_call(self):
        self.interrupted("epoll", "children")

    def test_a_signal_that_comes_during_the_stop_wakes_the_program(self):
        # The kernel would give the signal to a thread that isn't stopped yet.
        mask = "signal.pthread_sigmask(signal.SIG_{}BLOCK, [signal.SIGUSR1])\n"
        waits = ("import select, signal\n" + mask.format("") + self.MANY_THREADS.replace(
            "while True", mask.format("UN") +
            "signal.signal(signal.SIGUSR1, lambda *_: print('woken', flush=True))\n"
            "select.epoll().poll()\nwhile True"))
        program = attach_test.Program(self, ["/usr/bin/python3", "-c", waits])
        self.assertEqual(program.process.stdout.readline(), "up\n")
        woken = 0
        for _ in range(20):  # not each stop is seen from here: other tests run, too
            memprof = subprocess.Popen([MEMPROF, "attach", str(program.pid), "-q", "--duration", "0.1", "-f", "-o",
                                        self.path("x.memprof")])
            self.addCleanup(memprof.wait)
            with open(f"/proc/{program.pid}/stat", encoding="ascii") as stat:
                while memprof.poll() is None and ") t " not in stat.read():
                    stat.seek(0)
            if memprof.poll() is not None:
                self.assertEqual(memprof.returncode, 0)
                continue
            os.kill(program.pid, signal.SIGUSR1)
            self.assertTrue(select.select([program.process.stdout], [], [], 10)[0], "not woken")
            self.assertEqual(program.process.stdout.readline(), "woken\n")
            self.assertEqual(memprof.wait(60), 0)
            woken += 1
            if woken == 3:
                break
        self.assertGreater(woken, 0)

    def test_a_sleep_beside_a_thread_that_loads_is_not_interrupted(self):
        program = attach_test.Program(self, [os.path.join(PROGRAMS, "sleeps_beside_loader")])
        self.assertEqual(program.process.stdout.readline(), "ready\n")
        for _ in range(6):
            done = run([MEMPROF, "attach", str(program.pid), "-q", "--duration", "0.2", "-f", "-o", "x.memprof"],
                       cwd=self.directory)
            self.assertIn(done.returncode, (0, 125), done.stderr)  # the loader may be busy
        self.assertRegex(program.tell("end"), r"^[1-9]\d* calls, 0 interrupted$")

    # --- faults ----------------------------------------------------------------------------------

    def test_handlers_of_faults_are_told_what_the_kernel_says(self):
        program = attach_test.Program(self, [os.path.join(PROGRAMS, "catches_faults")])
        self.assertEqual(program.process.stdout.readline(), "ready\n")
        for _ in range(12):
            self.memprof("attach", str(program.pid), "-q", "--duration", "0.05", "-f", "-o", "x.memprof")
        self.assertRegex(program.tell("end"), r"^\d+ faults, \d+ traps, 0 wrong$")

    # --- libc's own threads ----------------------------------------------------------------------

    def test_one_with_threads_of_libcs_own_is_left_as_it_was(self):
        program = attach_test.Program(self, [os.path.join(PROGRAMS, "has_libcs_threads")])
        self.assertEqual(program.process.stdout.readline(), "ready\n")
        for _ in range(3):
            done = run([MEMPROF, "attach", str(program.pid), "--duration", "0.2", "-f", "-o", "x.memprof"],
                       cwd=self.directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"the tracker's memory stays", done.stderr)
        self.assertEqual(program.tell("end"), "end")

    def test_connect_is_not_interrupted(self):
        self.interrupted("connect")

    def test_sendmmsg_is_not_interrupted(self):
        self.interrupted("sendmmsg")

    def test_sendfile_is_not_interrupted(self):
        self.interrupted("sendfile")

    def test_io_uring_is_not_interrupted(self):
        self.interrupted("io_uring")


if __name__ == "__main__":
    unittest.main()
