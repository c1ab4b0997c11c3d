#!/usr/bin/python3
"""What viewers cost: live_bench.py BUILD [SECONDS]

A program with 10,000 call stacks allocates without a pause. Prints how much of one core its memprof run
takes with 0, 1 and 10 viewers that look once a second, how much a viewer takes, how soon a viewer has its
first figures, and the program's processor time for the same allocations with and without viewers.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SITES, DEPTH = 10_000, 10
VIEWERS = (0, 1, 10)


def processor_seconds(pid):
    """Of all threads, by nanoseconds: the ticks of stat are too coarse."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
                total += int(file.read().split()[0])
        except OSError:
            pass  # it has just ended
    return total / 1e9


def processor_seconds_of_child(pid, name):
    """0: there is none of this name."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            for child in file.read().split():
                with open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                    if comm.read().strip() == name:
                        return processor_seconds(int(child))
    except OSError:
        pass  # it has just ended
    return 0.0


class Bench:
    def __init__(self, build, folder):
        self.memprof = os.path.join(build, "bin", "memprof")
        self.program = os.path.join(build, "tests", "sites_bench")
        self.folder = folder

    def start(self, allocations):
        command = [self.memprof, "run", "-q", "-f", "-o", f"{self.folder}/x.memprof", self.program, str(SITES),
                   str(allocations), str(DEPTH)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def await_run(self, run):
        while run.poll() is None:
            listed = subprocess.run([self.memprof, "list", "--json"], capture_output=True, check=True).stdout
            if any(each["supervisor"] == run.pid for each in json.loads(listed)["runs"]):
                return

    def views(self, run, count):
        self.await_run(run)
        return [subprocess.Popen([self.memprof, "top", "--json", str(run.pid)], stdout=subprocess.DEVNULL)
                for _ in range(count)]

    def first_screen(self, run):
        """Milliseconds until the interactive view has drawn its first table."""
        ours, its = os.openpty()
        begin = time.monotonic()
        viewer = subprocess.Popen([self.memprof, "top", str(run.pid)], stdin=its, stdout=its,
                                  env={**os.environ, "TERM": "xterm"}, start_new_session=True)
        os.close(its)
        drawn = b""
        while b"blocks" not in drawn:
            drawn += os.read(ours, 65536)
        took = time.monotonic() - begin
        viewer.kill()
        viewer.wait()
        os.close(ours)
        return 1000 * took

    def first_line(self, run):
        """Milliseconds until a viewer has printed its first line, which has all names."""
        begin = time.monotonic()
        viewer = subprocess.Popen([self.memprof, "top", "--json", str(run.pid)], stdout=subprocess.PIPE)
        viewer.stdout.read(1)
        took = time.monotonic() - begin
        viewer.kill()
        viewer.wait()
        viewer.stdout.close()
        return 1000 * took

    def cost_of_memprof(self, seconds):
        run = self.start(10**12)
        time.sleep(3)  # all stacks have come
        screen = statistics.median(self.first_screen(run) for _ in range(5))
        line = statistics.median(self.first_line(run) for _ in range(5))
        print(f"first table on the screen: {screen:.0f} ms; first line of --json, with all names: {line:.0f} ms")
        for count in VIEWERS:
            viewers = self.views(run, count)
            time.sleep(2)  # they have their names
            watched = [run.pid] + [viewer.pid for viewer in viewers]
            begin, before = time.monotonic(), [processor_seconds(pid) for pid in watched]
            time.sleep(seconds)
            passed = time.monotonic() - begin
            used = [processor_seconds(pid) - then for pid, then in zip(watched, before)]
            shares = [100 * each / passed for each in used]
            a_viewer = f", a viewer {statistics.mean(shares[1:]):.1f} %" if count else ""
            print(f"{count:2} viewers: memprof run takes {shares[0]:.2f} % of a core{a_viewer}", flush=True)
            for viewer in viewers:
                viewer.kill()
                viewer.wait()
        run.terminate()
        run.wait()

    def cost_of_program(self, pairs, allocations=10_000_000):
        """The program's own processor time; run and viewers are other processes."""
        ratios = []
        for _ in range(pairs):
            times = []
            for count in (0, 10):
                run = self.start(allocations)
                viewers = self.views(run, count)
                last = 0.0
                while run.poll() is None:
                    last = max(last, processor_seconds_of_child(run.pid, "sites_bench"))
                    time.sleep(0.005)
                for viewer in viewers:
                    viewer.kill()
                    viewer.wait()
                times.append(last)
            ratios.append(times[1] / times[0])
        print(f"the program's processor time with 10 viewers: {statistics.median(ratios):.3f} of that without "
              f"({min(ratios):.3f} to {max(ratios):.3f}, {pairs} pairs)")


def main():
    build = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, folder)
        bench.cost_of_memprof(seconds)
        bench.cost_of_program(3)


if __name__ == "__main__":
    main()
