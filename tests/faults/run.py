"""./dev faults [SEED]: every fault of faults.py, and a table of the results.

Exits with 1 if something did not hold.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

import faults
from faults import Broken

KILLS = 25


class Table:
    def __init__(self):
        self.broken = 0
        self.start = time.monotonic()

    def row(self, name, runs, outcome):
        print(f"{name:60} {runs:5} {outcome}", flush=True)

    def run(self, name, work):
        """`work` gives (runs, what came of them)."""
        try:
            runs, outcome = work()
        except Broken as error:
            self.broken += 1
            runs, outcome = "", f"BROKEN: {error}"
        self.row(name, runs, outcome)


def ends_of(tests, work):
    before = dict(tests.ends)
    runs = work()
    return runs, "; ".join(f"{end}: {n - before.get(end, 0)}" for end, n in sorted(
        tests.ends.items()) if n != before.get(end, 0))


def calls(tests, table):
    for where, sorts in (("tracker", faults.TRACKER), ("supervisor", faults.SUPERVISOR)):
        for call, errors in sorts.items():
            for error in errors:
                name = f"{where}: {call}, {os.strerror(error)}"
                table.run(name, lambda: ends_of(
                    tests, lambda: tests.fail_each(where, call, error)))
    region = ["--region", tests.path("x.region")]
    for call in ("ftruncate", "fallocate", "openat", "pwrite64"):
        error = faults.SUPERVISOR[call][0]
        table.run(f"supervisor with --region: {call}, {os.strerror(error)}", lambda: ends_of(
            tests, lambda: tests.fail_each("supervisor", call, error, region)))


def no_room(tests, table):
    def limits():
        # Also the region keeps to it.
        sizes = list(range(0, 4096, 512)) + [1 << bits for bits in range(12, 28)]
        for size in sizes:
            tests.limit_files(size)
        return len(sizes)

    def disks():
        region = ["--region", tests.path("disk/x.region")]
        return (sum(tests.fill_disk(40, left) for left in range(0, 44, 4)) +
                sum(tests.fill_disk(kibibytes, kibibytes, region) for kibibytes in (64, 4096)))
    table.run("a limit on files, 0 bytes to 128 MiB", lambda: ends_of(tests, limits))
    table.run("a disk with 0 to 40 KiB left, and small ones for the region",
              lambda: ends_of(tests, disks))


def changes(tests, table):
    out, moved = tests.path("out"), tests.path("moved")

    def removed():
        said = tests.change_output("removed", os.remove)
        tests.figures(os.path.join(out, "x.memprof"))
        return 1, f"written again; {said.strip() or 'nothing to say'}"

    def a_directory():
        def change(capture):
            os.remove(capture)
            os.mkdir(capture)
        said = tests.change_output("a directory in its place", change)
        os.rmdir(os.path.join(out, "x.memprof"))
        if "memprof: " not in said:
            raise Broken(f"a directory in its place: {said}")
        return 1, said.strip().splitlines()[-1]

    def renamed():
        said = tests.change_output("its directory renamed", lambda _: os.rename(out, moved))
        tests.figures(os.path.join(moved, "x.memprof"))
        shutil.rmtree(moved)
        if "memprof: " not in said:
            raise Broken(f"its directory renamed: {said}")
        return 1, said.strip().splitlines()[-1]

    def read_only():
        os.makedirs(out, exist_ok=True)
        if tests.run(["mount", "-t", "tmpfs", "none", out]).returncode != 0:
            return 0, "not tried: needs root and mount"
        kept = []

        def look():
            kept.append(tests.figures(os.path.join(out, "x.memprof")))
            tests.run(["umount", "-l", out])
        said = tests.change_output(
            "its file system read-only",
            lambda _: tests.run(["mount", "-o", "remount,ro", out]), look)
        if "Read-only file system" not in said:
            raise Broken(f"read-only: {said}")
        return 1, said.strip().splitlines()[-1]
    for name, work in (("the capture is removed", removed),
                       ("a directory stands in its place", a_directory),
                       ("its directory is renamed", renamed),
                       ("its file system becomes read-only", read_only)):
        table.run(name, work)
    for seconds in (86400, -86400, 10**9, -10**9):
        table.run(f"the clock jumps by {seconds:+,} s and back", lambda: ends_of(
            tests, lambda: tests.jump_clock(seconds) or 1))


def kills(tests, table, seed):
    bound = faults.bound_in_flight(4)

    def program():
        worst = max(tests.kill_program(after) for after in faults.random_moments(seed, KILLS))
        if worst > bound:
            raise Broken(f"live bytes differ by {worst}, more than {bound}")
        return KILLS, f"all valid; live bytes differ by {worst:,} at most ({bound:,} in flight)"

    def supervisor():
        worst = max(tests.kill_supervisor(after) for after in
                    faults.random_moments(seed + 1, KILLS, 2.5))
        if worst > bound:
            raise Broken(f"live bytes differ by {worst}, more than {bound}")
        return KILLS, (f"captures and regions valid, the program went on; live bytes differ by "
                       f"{worst:,} at most")
    table.run("SIGKILL of the program, four threads", program)
    table.run("SIGKILL of the supervisor, four threads", supervisor)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--only", choices=("calls", "room", "changes", "kills"))
    options = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="memprof-faults-")
    table = Table()
    try:
        tests = faults.Faults(options.build, directory)
        print(f"{'fault':60} {'runs':>5} what came of it")
        for name, part in (("calls", calls), ("room", no_room), ("changes", changes),
                           ("kills", lambda *both: kills(*both, options.seed))):
            if options.only in (None, name):
                part(tests, table)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{tests.runs} runs in {time.monotonic() - table.start:.0f} s; what must hold "
          f"{'held in all' if table.broken == 0 else f'did NOT hold in {table.broken} rows'}")
    sys.exit(table.broken != 0)


if __name__ == "__main__":
    main()
