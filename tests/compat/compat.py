#!/usr/bin/python3
"""Runs real programs bare and under memprof, compares everything that they leave, and prints a table.

  compat.py BUILD [--repetitions N] [--jemalloc] [--table FILE] [--light] [NAME…]
  compat.py --packages

Exit status 1 if a program behaved differently under memprof. A program that is not installed is
a line, not a failure; --require says how many must have run.
"""
import argparse
import dataclasses
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile

from program_bench import Failure, Figures, ProgramBench, shown
from programs import PROGRAMS

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def installed(program):
    """Whether what it runs is here."""
    needed = [program.command[0]] + [word.split()[0] for word in (program.ready,) if word]
    return all(shutil.which(word) for word in needed)


@dataclasses.dataclass
class Row:
    name: str
    allocator: str
    bare: float
    profiled: float
    ratio: float  # the median of the pairs'
    figures: Figures


def compare(bench, program, repetitions, preload):
    """Runs it by turns bare and under memprof; the row, or a Failure with the first difference."""
    bare, profiled = [], []
    first = None
    for _ in range(repetitions):
        for with_memprof in (False, True):
            outcome = bench.run(program, with_memprof, preload)
            if first is None and outcome.status != program.status:
                raise Failure(f"bare it exits with {outcome.status}, not {program.status}: "
                              + shown(outcome.stderr))
            first = first or outcome
            difference = outcome.difference(first)
            if difference:
                who = "under memprof" if with_memprof else "two bare runs differ"
                raise Failure(f"{who}: {difference}")
            (profiled if with_memprof else bare).append(outcome.seconds)
    return Row(program.name, "jemalloc" if preload else "glibc", statistics.median(bare),
               statistics.median(profiled),
               statistics.median([p / b for p, b in zip(profiled, bare)]), bench.figures(program))


def text_of(row):
    figures = row.figures
    notes = f"{figures.dropped} events dropped" if figures.dropped else ""
    return (f"| {row.name} | {row.allocator} | {row.bare:.2f} s | {row.profiled:.2f} s | {row.ratio:.2f} | "
            f"{figures.allocations:,} | {figures.tree_allocations:,} | {figures.capture_bytes / 1000:.1f} kB | {notes} |")


HEAD = """| program | allocator | bare | memprof | ratio | allocations | with children's | capture | |
|---|---|---:|---:|---:|---:|---:|---:|---|"""


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    system = "Linux"
    if os.path.exists("/etc/os-release"):
        with open("/etc/os-release", encoding="utf-8") as file:
            system = re.search(r'PRETTY_NAME="(.*)"', file.read())[1]
    return f"{system}, Linux {platform.release().split('-')[0]}, {os.cpu_count()} × {model[1] if model else platform.machine()}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build", nargs="?")
    arguments.add_argument("--packages", action="store_true", help="print the packages of all, and end")
    arguments.add_argument("names", nargs="*", metavar="NAME")
    arguments.add_argument("--repetitions", type=int, default=1)
    arguments.add_argument("--light", action="store_true", help="those of the tests")
    arguments.add_argument("--jemalloc", action="store_true", help="those that ask for it also with jemalloc")
    arguments.add_argument("--require", type=int, default=1, help="at least so many must have run")
    arguments.add_argument("--table", help="write the table into this page, below its marker")
    options = arguments.parse_intermixed_args()
    if options.packages:
        print(*sorted({package for program in PROGRAMS for package in program.packages}))
        return 0
    if not options.build:
        arguments.error("a build folder is missing")
    unknown = set(options.names) - {program.name for program in PROGRAMS}
    if unknown:
        arguments.error(f"no program is called {', '.join(sorted(unknown))}; there are: "
                        + ", ".join(program.name for program in PROGRAMS))
    chosen = [p for p in PROGRAMS if (p.name in options.names or not options.names)
              and (p.light or not options.light)]
    rows, failed, absent = [], [], []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="memprof-compat-") as top:
        os.chmod(top, 0o777)
        bench = ProgramBench(os.path.join(os.path.abspath(options.build), "bin", "memprof"), top)
        print(HEAD, flush=True)
        for program in chosen:
            if not installed(program):
                absent.append(program.name)
                continue
            preloads = [""]
            if options.jemalloc and program.jemalloc and os.path.exists(JEMALLOC):
                preloads.append(JEMALLOC)
            for preload in preloads:
                try:
                    rows.append(compare(bench, program, options.repetitions, preload))
                    print(text_of(rows[-1]), flush=True)
                except Failure as failure:
                    failed.append(program.name)
                    print(f"{program.name}{' with jemalloc' if preload else ''}: {failure}", flush=True)
    ran = len({row.name for row in rows})
    print(f"\n{ran} programs did the same, {len(failed)} did not, {len(absent)} are not installed"
          + (": " + ", ".join(absent) if absent else ""))
    if options.table and not failed and not absent:
        write_table(options.table, rows, load)
    if ran < options.require:
        print(f"{options.require} must have run")
        return 1
    return 1 if failed else 0


def write_table(page, rows, load):
    marker = "<!-- what follows is written by ./dev compat -->\n"
    with open(page, encoding="utf-8") as file:
        head = file.read().split(marker)[0]
    with open(page, "w", encoding="utf-8") as file:
        file.write(head + marker + f"\nOn {machine()}; load of others at the start {load:.1f}.\n\n" + HEAD + "\n"
                   + "".join(text_of(row) + "\n" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
