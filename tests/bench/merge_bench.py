#!/usr/bin/python3
"""Measures the time and memory of memprof merge for many captures.

usage: merge_bench.py BUILD [CAPTURES [SITES]]      (default: 2000 of 400 places each)
"""
import os
import sys
import tempfile
import time


def merge(memprof, captures, output):
    """Seconds, and the process's highest resident memory in MiB."""
    start = time.monotonic()
    pid = os.posix_spawn(memprof, [memprof, "merge", "-f", "-o", output, *captures], os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"merge failed: {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    build = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    sites = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    with tempfile.TemporaryDirectory(prefix="memprof-merge-bench-") as directory:
        make = os.path.join(build, "tests", "make_captures")
        if os.spawnv(os.P_WAIT, make, [make, directory, str(count), str(sites)]) != 0:
            sys.exit("no captures could be made")
        captures = [os.path.join(directory, f"{i}.memprof") for i in range(count)]
        size = sum(os.path.getsize(capture) for capture in captures)
        print(f"{count} captures of {sites} places, {size / count / 1024:.1f} KiB each")
        memprof = os.path.join(build, "bin", "memprof")
        for some in sorted({count // 10, count}):
            output = os.path.join(directory, "all")
            seconds, processor, mib = merge(memprof, captures[:some], output)
            print(f"merge of {some}: {seconds:.2f} s ({processor:.2f} s of processor time), "
                  f"peak RSS {mib:.0f} MiB, result {os.path.getsize(output) / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
