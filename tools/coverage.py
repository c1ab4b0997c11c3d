#!/usr/bin/env python3
"""Lines that the unit tests run, by folder, and those of aggregator/ and formats/ that they don't.

usage: coverage.py BUILD [FOLDER…]   BUILD was made with MEMPROF_COVERAGE, and its tests were run

Of aggregator/ that is what is built for tests too (tables, unwinding, parts of the rest). The hooks
run in other programs only: what covers them are the programs of tests/programs, not counted here.
"""
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMED = ("aggregator", "formats")  # whose lines are named


def counters(build):
    for directory, _, names in os.walk(build):
        yield from (os.path.join(directory, name) for name in names if name.endswith(".gcda"))


def executed(build):
    """{file: {line: times}} of the sources of this repository."""
    lines = collections.defaultdict(dict)
    files = sorted(counters(build))
    for at in range(0, len(files), 50):
        text = subprocess.run(["gcov", "--json-format", "--stdout", *files[at:at + 50]], cwd=build,
                              check=True, capture_output=True, text=True).stdout
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(build, file["file"]), ROOT)
                if path.startswith(("..", "build", "tests")):
                    continue
                known = lines[path]
                for line in file["lines"]:
                    number = line["line_number"]
                    known[number] = known.get(number, 0) + line["count"]
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
    if not lines:
        sys.exit(f"coverage.py: no counters below {build}; build it with MEMPROF_COVERAGE and run its tests")
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
