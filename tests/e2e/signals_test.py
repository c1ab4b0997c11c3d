#!/usr/bin/python3
"""The program has its signals, terminal and descriptors as without memprof."""
import json
import os
import pty
import select
import signal
import subprocess
import time
import unittest

import harness

# Says which signals came, one line each, until SIGTERM. Its handlers are in place at "ready".
LISTENER = r"""
import os, signal, sys
def say(number, frame):
    os.write(1, b"got %d\n" % number)
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH,
               signal.SIGRTMIN + 3):
    signal.signal(number, say)
os.write(1, b"ready\n")
while True:
    signal.pause()
"""


class SignalsTest(harness.MemprofTest):
    def start(self, command, *flags, **options):
        supervisor = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--",
             *command], cwd=self.directory, **options)
        self.addCleanup(self.end, supervisor)
        return supervisor

    def end(self, supervisor):
        if supervisor.poll() is None:
            for pid in self.children(supervisor):
                os.kill(pid, signal.SIGKILL)
            supervisor.kill()
        supervisor.wait()
        for stream in (supervisor.stdout, supervisor.stderr):
            if stream is not None:
                stream.close()

    def children(self, supervisor):
        path = f"/proc/{supervisor.pid}/task/{supervisor.pid}/children"
        with open(path, encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def name(self, pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""

    def state(self, pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def wait_for(self, what, condition):
        deadline = time.monotonic() + harness.TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def test_signals_to_memprof_reach_the_program_once(self):
        supervisor = self.start(["/usr/bin/python3", "-c", LISTENER], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE)
        self.assertEqual(supervisor.stdout.readline(), b"ready\n")
        for number in (signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGUSR2,
                       signal.SIGRTMIN + 3):
            supervisor.send_signal(number)
            self.assertEqual(supervisor.stdout.readline(), b"got %d\n" % number)
        supervisor.send_signal(signal.SIGTERM)
        self.assertEqual(supervisor.stdout.read(), b"")  # nothing came twice
        self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + signal.SIGTERM)

    def test_a_signal_to_its_own_group_reaches_the_program_once(self):
        script = "trap 'echo got' USR1; kill -USR1 0; for i in 1 2 3 4 5; do sleep 0.1; done; echo end"
        done = harness.run([harness.MEMPROF, "run", "-q", "-o", self.path("x.memprof"), "--", "bash", "-c",
                            script], start_new_session=True)
        self.assertEqual(done.stdout, b"got\nend\n")

    def test_a_timeout_ends_a_stopped_program(self):
        start = time.monotonic()
        done = harness.run([harness.MEMPROF, "run", "-q", "-o", self.path("x.memprof"), "--timeout", "1",
                            "--", "bash", "-c", "kill -STOP $$; sleep 60"], start_new_session=True)
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertLess(time.monotonic() - start, 30)

    def test_dispositions_and_mask_are_the_callers(self):
        script = ("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; echo $(ls /proc/self/fd | wc -w);"
                  "ulimit -a; umask; pwd")

        def start():
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGWINCH})
            os.umask(0o027)

        # restore_signals would undo what start() sets.
        options = {"preexec_fn": start, "restore_signals": False}
        bare = self.bare(["/bin/bash", "-c", script], **options)
        profiled = self.profile(["/bin/bash", "-c", script], **options)
        self.assertEqual(profiled.stdout.decode(), bare.stdout.decode())
        self.assertEqual(profiled.returncode, 0)

    def test_no_descriptor_of_ours_is_open_in_the_program(self):
        script = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
        bare = self.bare(["/usr/bin/python3", "-c", script])
        self.assertEqual(self.profile(["/usr/bin/python3", "-c", script]).stdout, bare.stdout)

    def test_the_tracker_is_the_only_library_of_ours_in_the_program(self):
        script = ("import json; print(json.dumps(sorted({line.split(None, 5)[5].strip() for line in "
                  "open('/proc/self/maps') if '.so' in line})))")
        bare = json.loads(self.bare(["/usr/bin/python3", "-c", script]).stdout)
        ours = json.loads(self.profile(["/usr/bin/python3", "-c", script]).stdout)
        more = set(ours) - set(bare)
        self.assertEqual(len(more), 1, more)
        self.assertIn("memprof", os.path.basename(more.pop()))

    def test_a_stopped_program_is_stopped_for_the_shell_too(self):
        supervisor = self.start(["/usr/bin/python3", "-c", LISTENER], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE)
        self.assertEqual(supervisor.stdout.readline(), b"ready\n")
        pid = self.children(supervisor)[0]
        # Not SIGTSTP: nothing stops by that where the shell that started all this is gone.
        os.kill(pid, signal.SIGSTOP)
        self.wait_for("memprof did not stop", lambda: self.state(supervisor.pid) == "T")
        supervisor.send_signal(signal.SIGCONT)
        self.wait_for("the program did not go on", lambda: self.state(pid) != "T")
        supervisor.send_signal(signal.SIGUSR1)
        self.assertEqual(supervisor.stdout.readline(), b"got %d\n" % signal.SIGUSR1)
        supervisor.send_signal(signal.SIGTERM)
        self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + signal.SIGTERM)

    def test_the_terminal_is_the_programs_and_its_interrupt_comes_once(self):
        # A session of its own on a pseudo terminal, as a shell would start it.
        main, side = pty.openpty()
        self.addCleanup(os.close, main)

        def on_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        script = "import os\nprint(os.isatty(0), os.isatty(1), os.isatty(2))\n" + LISTENER
        supervisor = self.start(["/usr/bin/python3", "-u", "-c", script], stdin=side, stdout=side,
                                stderr=side, preexec_fn=on_terminal)
        os.close(side)
        self.read_until(main, b"ready")
        self.assertIn(b"True True True", self.seen)
        os.write(main, b"\x03")
        self.read_until(main, b"got 2\r\n")
        time.sleep(0.3)
        supervisor.send_signal(signal.SIGUSR1)
        self.read_until(main, b"got %d" % signal.SIGUSR1)
        self.assertEqual(self.seen.count(b"got 2\r\n"), 1, self.seen)
        supervisor.send_signal(signal.SIGTERM)
        self.assertEqual(supervisor.wait(harness.TIMEOUT), 128 + signal.SIGTERM)

    seen = b""

    def read_until(self, descriptor, text):
        deadline = time.monotonic() + harness.TIMEOUT
        while text not in self.seen:
            self.assertLess(time.monotonic(), deadline, self.seen)
            if select.select([descriptor], [], [], 0.2)[0]:
                self.seen += os.read(descriptor, 4096)

    def test_a_daemon_that_lives_on_holds_nobody_up(self):
        # $(memprof run …) reads until the last writer is gone: only the daemon's own choice counts.
        script = "(exec sleep 60 >/dev/null 2>&1 </dev/null) & echo $!"
        begin = time.monotonic()
        done = self.profile(["/bin/bash", "-c", script])
        took = time.monotonic() - begin
        os.kill(int(done.stdout), signal.SIGKILL)
        self.assertEqual(done.returncode, 0)
        self.assertLess(took, 30)

    def test_a_stopped_supervisor_delays_the_start_but_does_not_prevent_it(self):
        # The shell's children connect while the supervisor is stopped; each goes on untracked.
        supervisor = self.start(["/bin/bash", "-c", "read x; /bin/echo hello; exit 3"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.wait_for("no shell", lambda: "bash" in map(self.name, self.children(supervisor)))
        supervisor.send_signal(signal.SIGSTOP)
        supervisor.stdin.write(b"go\n")
        supervisor.stdin.close()
        begin = time.monotonic()
        self.assertEqual(supervisor.stdout.readline(), b"hello\n")
        self.assertLess(time.monotonic() - begin, 20)
        supervisor.send_signal(signal.SIGCONT)
        self.assertEqual(supervisor.wait(harness.TIMEOUT), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
