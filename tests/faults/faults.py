"""Every system call that memprof makes fails once: the conditions that must hold then, and the runs that check them.

  one call     fail_call makes the n-th call of a kind fail, n = 1, 2, 3, … until a run has no n-th
  no room      a file system of so many KiB, and a limit on files' sizes of so many bytes
  changes      the output is removed, replaced by a directory, its directory renamed or made
               read-only while the program runs; the clock jumps
  kills        of the program and of the supervisor, at random moments, under four threads

The conditions: the program's output is as without memprof, or it never started; no signal, no hang.
There is a capture that is right, or says what it lacks, or the last line on stderr says why there is
none.
"""
import datetime
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from thread_books import read_books  # noqa: E402

TIMEOUT = 100

# The calls that may be refused to the supervisor, and their errors.
SUPERVISOR = {
    "mmap": [errno.ENOMEM], "mprotect": [errno.ENOMEM], "openat": [errno.EMFILE, errno.EACCES],
    "write": [errno.ENOSPC, errno.EDQUOT, errno.EIO], "pwrite64": [errno.ENOSPC],
    "ftruncate": [errno.ENOSPC], "fallocate": [errno.ENOSPC, errno.EOPNOTSUPP],
    "memfd_create": [errno.EMFILE, errno.ENOSYS], "socket": [errno.EMFILE], "fsync": [errno.EIO],
    "rename": [errno.EACCES], "clone3": [errno.EAGAIN], "fcntl": [errno.EMFILE],
    "pread64": [errno.EIO], "sendmsg": [errno.ENOBUFS]}
TRACKER = {
    "mmap": [errno.ENOMEM], "mprotect": [errno.ENOMEM], "openat": [errno.EMFILE],
    "read": [errno.EIO], "socket": [errno.EMFILE, errno.EPERM], "connect": [errno.ECONNREFUSED],
    "sendto": [errno.EPIPE], "recvmsg": [errno.EAGAIN]}


class Broken(Exception):
    pass


class Faults:
    """Runs in a directory of its own; a fault that breaks what must hold raises Broken."""

    def __init__(self, build, directory):
        self.directory = directory
        self.memprof = os.path.join(build, "bin", "memprof")
        self.fail_call = os.path.join(build, "tests", "fail_call")
        self.jumping_clock = os.path.join(build, "tests", "libjumping_clock.so")
        programs = os.path.join(build, "tests", "programs")
        self.program = os.path.join(programs, "says_its_heap")
        self.until_killed = os.path.join(programs, "until_killed")
        self.output = subprocess.run([self.program], capture_output=True, check=True).stdout
        self.runs = 0
        self.ends = {}  # how often what came out
        self.full = self.right_figures()

    def path(self, name):
        return os.path.join(self.directory, name)

    def right_figures(self):
        done = self.run([self.memprof, "run", "-q", "-f", "-o", self.path("right.memprof"), "--",
                         self.program])
        if done.returncode != 0:
            raise Broken(f"without a fault: {done}")
        return self.figures(self.path("right.memprof"))

    def run(self, command, **options):
        return subprocess.run(command, cwd=self.directory, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT, **options)

    def profile_of(self, capture):
        done = self.run([self.memprof, "transform", "json", capture])
        if done.returncode != 0:
            raise Broken(f"the capture can't be read: {done.stderr}")
        return json.loads(done.stdout)

    def figures(self, capture):
        profile = self.profile_of(capture)
        for figure in ("peak", "leaked", "total"):
            for unit in ("bytes", "allocations"):
                rows = sum(site[figure][unit] for site in profile["sites"])
                if rows != profile[figure][unit]:
                    raise Broken(f"{figure} {unit}: the rows are {rows}, not {profile[figure]}")
        tracker = profile["tracker"]
        lacks = {name: tracker[name] for name in ("dropped_events", "stop_reason",
                                                  "tables_full_events", "unknown_frees",
                                                  "peak_bound_bytes") if tracker[name] != 0}
        return {f"{figure} {unit}": profile[figure][unit] for figure in ("peak", "leaked", "total")
                for unit in ("bytes", "allocations")}, lacks

    # One run under a fault, held against what must hold. `started`: the program surely did.
    # `mute`: what failed may have been the word itself.
    def check(self, what, done, capture, started=False, mute=False):
        self.runs += 1
        lines = done.stderr.decode(errors="replace").splitlines()
        ran = done.stdout == self.output
        if done.stdout not in (b"", self.output) or (started and not ran):
            raise Broken(f"{what}: another output: {done}")
        if done.returncode == 0:
            if not ran:
                raise Broken(f"{what}: status 0 without the program's output: {done}")
            right, lacks = self.full
            figures, says = self.figures(capture)
            if figures != right and not says:
                raise Broken(f"{what}: wrong, and it doesn't say so: {figures}, not {right}")
            self.count("the capture is right" if figures == right else
                       "the capture says what it lacks")
            return
        # A sanitizer or a signal would be another status.
        said = mute if not lines else lines[-1].startswith("memprof: ")
        if done.returncode != 125 or not said:
            raise Broken(f"{what}: no word of why: {done}")
        self.count("an error, the program ran" if ran else "an error, the program was not started")

    def count(self, end):
        self.ends[end] = self.ends.get(end, 0) + 1

    def fail(self, where, call, nth, error, flags=()):
        """The nth call fails; false if there was none."""
        capture, report = self.path("x.memprof"), self.path("report")
        for path in (capture, report, self.path("x.region")):
            if os.path.exists(path):
                os.remove(path)
        done = self.run([self.fail_call, where, call, str(nth), str(error), report, self.memprof,
                         "run", "-q", "-f", "-o", capture, *flags, "--", self.program])
        with open(report, encoding="ascii") as file:
            seen, failed = map(int, file.read().split())
        if not failed:
            return False
        what = f"{where} {call} #{nth} of {seen}: {errno.errorcode[error]} {' '.join(flags)}"
        self.check(what, done, capture, mute=call == "write")
        return True

    def fail_each(self, where, call, error, flags=(), most=10**6):
        nth = 0
        while nth < most and self.fail(where, call, nth + 1, error, flags):
            nth += 1
        return nth

    # No room.
    def limit_files(self, size):
        import resource
        done = self.run([self.memprof, "run", "-q", "-f", "-o", self.path("x.memprof"), "--",
                         self.program],
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        self.check(f"a limit of {size} bytes on files", done, self.path("x.memprof"))

    def small_disk(self, kibibytes):
        """A mounted file system, or None where that isn't allowed."""
        mount = self.path("disk")
        os.makedirs(mount, exist_ok=True)
        done = self.run(["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "none", mount])
        return mount if done.returncode == 0 else None

    def unmount(self):
        self.run(["umount", "-l", self.path("disk")])

    def fill_disk(self, kibibytes, left, flags=()):
        """`left`: how many KiB of it are free."""
        mount = self.small_disk(kibibytes)
        if mount is None:
            return False
        filler = os.path.join(mount, "filler")
        try:
            with open(filler, "wb") as file:
                file.write(bytes((kibibytes - left) * 1024))
            capture = os.path.join(mount, "x.memprof")
            done = self.run([self.memprof, "run", "-q", "-f", "-o", capture, *flags, "--",
                             self.program])
            what = f"a disk with {left} KiB left"
            self.check(what, done, capture)
            others = set(os.listdir(mount)) - {"x.memprof", "filler", "x.region"}
            if others:
                raise Broken(f"{what}: {others} lie about")
        finally:
            self.unmount()
        return True

    # Changes while the program runs.
    def change_output(self, what, change, restore=lambda: None):
        """`change` is done once the first checkpoint is there; then the program is ended."""
        os.makedirs(self.path("out"), exist_ok=True)
        capture = self.path("out/x.memprof")
        for path in (capture, self.path("book")):
            if os.path.exists(path):
                os.remove(path)
        supervisor = subprocess.Popen(
            [self.memprof, "run", "-q", "-f", "-o", capture, "--checkpoint", "1", "--",
             self.until_killed, self.path("book"), "1"], cwd=self.directory,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            self.wait_for(lambda: os.path.exists(capture), what)
            change(capture)
            time.sleep(1.2)  # a checkpoint meets it
            if supervisor.poll() is not None:
                raise Broken(f"{what}: memprof ended by itself")
            supervisor.terminate()
            status = supervisor.wait(TIMEOUT)
        finally:
            if supervisor.poll() is None:
                supervisor.terminate()
                supervisor.wait()
            said = supervisor.stderr.read().decode(errors="replace")
            supervisor.stderr.close()
            restore()
        self.runs += 1
        if status != 128 + signal.SIGTERM:
            raise Broken(f"{what}: status {status}: {said}")
        return said

    def wait_for(self, condition, what):
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > deadline:
                raise Broken(f"{what}: waited in vain")
            time.sleep(0.02)

    def jump_clock(self, seconds):
        capture = self.path("x.memprof")
        done = self.run([self.memprof, "run", "-q", "-f", "-o", capture, "--", self.program],
                        env=os.environ | {"LD_PRELOAD": self.jumping_clock,
                             "CLOCK_JUMP_SECONDS": str(seconds)})
        self.check(f"the clock jumps by {seconds} s", done, capture, started=True)
        profile = self.profile_of(capture)
        if done.returncode != 0 or not 0 <= profile["duration_ms"] < 1000 * TIMEOUT:
            raise Broken(f"the clock jumps by {seconds} s: {done}, {profile['duration_ms']} ms")
        start = datetime.datetime.fromisoformat(profile["start"].replace("Z", "+00:00")).timestamp()
        if abs(start - time.time() - seconds) > TIMEOUT:
            raise Broken(f"the clock didn't jump by {seconds} s: it started at {profile['start']}")
        times = [point["time_ms"] for point in profile["timeline"]["points"]]
        if times != sorted(times) or any(t > profile["duration_ms"] + 1000 for t in times):
            raise Broken(f"the clock jumps by {seconds} s: times {times}")

    # Kills.
    def books(self, threads):
        return read_books(self.path("book"), threads)

    def start_threads(self, *flags, threads=4):
        for name in ("book", "x.memprof", "x.region"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        supervisor = subprocess.Popen(
            [self.memprof, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--",
             self.until_killed, self.path("book"), str(threads)], cwd=self.directory,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: len(self.books(threads)) == threads
                      and all(book[2] > 10 for book in self.books(threads)), "the program's start")
        with open(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children",
                  encoding="ascii") as file:
            return supervisor, int(file.read().split()[0])

    def live_of_churn(self, capture):
        profile = self.profile_of(capture)
        return sum(site["leaked"]["bytes"] for site in profile["sites"]
                   if any(frame["function"] == "churn" for frame in site["frames"]))

    def difference(self, capture, threads):
        """Between the capture's live bytes and the program's own books."""
        books = self.books(threads)
        self.figures(capture)
        return abs(self.live_of_churn(capture) - sum(book[0] for book in books))

    def kill_program(self, after, threads=4):
        supervisor, pid = self.start_threads(threads=threads)
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
        status = supervisor.wait(TIMEOUT)
        self.runs += 1
        if status != 128 + signal.SIGKILL:
            raise Broken(f"the program was killed after {after} s: status {status}")
        return self.difference(self.path("x.memprof"), threads)

    def kill_supervisor(self, after, threads=4):
        """With a region in a file; the program goes on, and is killed then."""
        supervisor, pid = self.start_threads("--checkpoint", "1", "--region", self.path("x.region"),
                                             threads=threads)
        try:
            time.sleep(after)
            supervisor.kill()
            supervisor.wait()
            self.runs += 1
            events = sum(book[2] for book in self.books(threads))
            self.wait_for(lambda: sum(book[2] for book in self.books(threads)) > events,
                          "the program goes on without memprof")
        finally:
            end_of_other(pid)
        if os.path.exists(self.path("x.memprof")):
            self.figures(self.path("x.memprof"))  # the last checkpoint is whole
        return self.difference(self.path("x.region"), threads)


def end_of_other(pid):
    """Kills a process that isn't our child, and waits until it is gone."""
    handle = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        import select
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(1000 * TIMEOUT)
    finally:
        os.close(handle)


def bound_in_flight(threads):
    # One event a thread may be in flight, in our count or in the book; each is at most 1000 bytes.
    return 2 * 1000 * threads


def random_moments(seed, count, most=0.5):
    rng = random.Random(seed)
    return [rng.uniform(0, most) for _ in range(count)]
