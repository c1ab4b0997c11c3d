#!/usr/bin/python3
"""Lines that the tests run, by folder, and those of aggregator/ and formats/ that they don't.

usage: coverage.py BUILD [FOLDER…]   BUILD was made with MEMPROF_COVERAGE, and its tests left their counters

In aggregator/ only the parts that are built for tests are counted (tables, unwinding, parts of the rest).
The hooks run only in other programs: tests/programs cover them, and are not counted here.
"""
import collections
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMED = ("aggregator", "formats")  # whose lines are named


def executed(build):
    """{file: {line: times}} of the sources of this repository."""
    counts = glob.glob(os.path.join(build, "coverage", "*.profraw"))
    if not counts:
        sys.exit(f"coverage.py: no counters in {build}/coverage; run ./dev asan, which makes them")
    merged = os.path.join(build, "coverage", "merged.profdata")
    subprocess.run(["llvm-profdata-14", "merge", "-sparse", "-o", merged, *counts], check=True)
    binaries = [os.path.join(build, "bin", "memprof"),
                *sorted(glob.glob(os.path.join(build, "tests", "*_test")))]
    text = subprocess.run(
        ["llvm-cov-14", "export", "-format=lcov", f"-instr-profile={merged}", binaries[0],
         *(word for binary in binaries[1:] for word in ("-object", binary))],
        check=True, capture_output=True, text=True).stdout
    lines = collections.defaultdict(dict)
    known = None
    for row in text.splitlines():
        kind, _, rest = row.partition(":")
        if kind == "SF":
            path = os.path.relpath(rest, ROOT)
            known = None if path.startswith(("..", "build", "tests")) else lines[path]
        elif kind == "DA" and known is not None:
            number, times = rest.split(",")[:2]
            known[int(number)] = known.get(int(number), 0) + int(times)
    return lines


def ranges(numbers):
    """[1, 2, 3, 7] as "1-3, 7"."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def main():
    build = os.path.abspath(sys.argv[1])
    lines = executed(build)
    folders = sys.argv[2:] or sorted({path.split("/")[0] for path in lines})
    for folder in folders:
        of_folder = {path: known for path, known in lines.items() if path.startswith(folder + "/")}
        count = sum(len(known) for known in of_folder.values())
        run = sum(1 for known in of_folder.values() for times in known.values() if times)
        print(f"{folder}: {run} of {count} lines, {100 * run / max(count, 1):.1f} %")
        if not folder.startswith(NAMED):
            continue
        for path, known in sorted(of_folder.items()):
            missed = [number for number, times in known.items() if not times]
            if missed:
                print(f"  {path}: {ranges(missed)}")


main()
