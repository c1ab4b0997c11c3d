#!/usr/bin/python3
"""Measures the time and memory of memprof flamegraph for a capture of many frames.

usage: page_writer_bench.py BUILD [FRAMES [PAGE [CAPTURES]]]

FRAMES is the number of nodes of the capture's call tree, 2 million by default. The page is kept if it
has a name. If there are several CAPTURES, 1 by default, each has so many frames, most of which are those
of the others, and the page is that of their merge.
"""
import os
import sys
import tempfile
import time

DEPTH = 12  # as in make_captures.cc


def main():
    build = sys.argv[1]
    frames = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    with tempfile.TemporaryDirectory(prefix="memprof-page-bench-") as directory:
        make = os.path.join(build, "tests", "make_captures")
        captures = int(sys.argv[4]) if len(sys.argv) > 4 else 1
        if os.spawnv(os.P_WAIT, make,
                     [make, directory, str(captures), str(frames // DEPTH)]) != 0:
            sys.exit("no capture could be made")
        page = sys.argv[3] if len(sys.argv) > 3 else os.path.join(directory, "page.html")
        memprof = os.path.join(build, "bin", "memprof")
        capture = os.path.join(directory, "0.memprof")
        if captures > 1:
            parts = [os.path.join(directory, f"{i}.memprof") for i in range(captures)]
            capture = os.path.join(directory, "all.memprof")
            if os.spawnv(os.P_WAIT, memprof, [memprof, "merge", "-o", capture, *parts]) != 0:
                sys.exit("the captures can't be merged")
        command = [memprof, "flamegraph", "-f", "-o", page, capture]
        output = os.open(os.devnull, os.O_WRONLY)
        start = time.monotonic()
        pid = os.posix_spawn(memprof, command, os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, output, 1)])
        _, status, usage = os.wait4(pid, 0)
        seconds = time.monotonic() - start
        if status != 0:
            sys.exit(f"flamegraph failed: {status}")
        of = f"a merge of {captures} times " if captures > 1 else ""
        print(f"page of {of}{frames:,} frames: {seconds:.2f} s "
              f"({usage.ru_utime + usage.ru_stime:.2f} s of processor time), "
              f"peak RSS {usage.ru_maxrss / 1024:.0f} MiB, {os.path.getsize(page) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
