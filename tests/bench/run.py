#!/usr/bin/env python3
"""Benchmarks: bare, memprof and (where it is installed) heaptrack in turn, medians, and the
overhead over bare as a ratio to heaptrack's. Ratios hold on a noisy machine, absolute times don't.

usage: run.py RELEASE-BUILD [-n RUNS] [pairs|programs|instructions]…
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def profilers(memprof, directory):
    yield "bare", []
    yield "memprof", [memprof, "run", "-q", "-f", "-o", os.path.join(directory, "x.memprof"), "--"]
    if shutil.which("heaptrack"):
        yield "heaptrack", ["heaptrack", "-o", os.path.join(directory, "h")]


def row(name, results, unit):
    bare = statistics.median(results["bare"])
    text = f"{name:<28} bare {bare:8.2f} {unit}"
    overhead = {}
    for profiler in ("memprof", "heaptrack"):
        if profiler in results:
            value = statistics.median(results[profiler])
            overhead[profiler] = value - bare
            text += f"   {profiler} {value:8.2f} ({value / bare:5.2f}x)"
    if len(overhead) == 2 and overhead["heaptrack"] > 0:
        text += f"   overhead/heaptrack's {overhead['memprof'] / overhead['heaptrack']:5.2f}"
    print(text, flush=True)


def pairs(build, memprof, runs, directory):
    print("ns per malloc+free pair, 100,000 live")
    program = os.path.join(build, "tests", "pair_bench")
    for threads in (1, 2):
        for depth in (8, 23, 60):
            for changing in (0, 4):
                results = {}
                for _ in range(runs):
                    for name, command in profilers(memprof, directory):
                        done = subprocess.run(
                            [*command, program, str(depth), str(changing), str(threads), "300000"],
                            capture_output=True, check=True, cwd=directory)
                        numbers = [w for w in done.stdout.decode().split()
                                   if w.replace(".", "").isdigit() and "." in w]
                        results.setdefault(name, []).append(float(numbers[-1]))
                row(f"{threads} thread(s) depth {depth:2} change {changing}", results, "ns")


def workloads(directory):
    def write(name, text):
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    xml = write("b.xml", "<r>" + "".join(
        f"<e k='{i}'><f>{i * 31}</f><g h='{i % 5}'>text {i}</g></e>" for i in range(150000)) + "</r>")
    sql = write("b.sql", "create table t(a integer primary key, b text); begin;\n" + "".join(
        f"insert into t values({i}, 'r{i * 7919 % 99991}');\n" for i in range(80000)) +
        "commit; create index i on t(b); select count(distinct b) from t;\n")
    script = write("b.py", "import json\nd = [{'a': i, 'b': str(i), 'c': [i] * 5} for i in "
                           "range(60000)]\nfor _ in range(3): s = json.dumps(d); e = json.loads(s)\n")
    yield "xmllint", ["xmllint", "--noout", xml]
    yield "sqlite3", ["sqlite3", ":memory:", f".read {sql}"]
    yield "python3 json", ["/usr/bin/python3", script]


def programs(memprof, runs, directory):
    print("wall seconds of real programs")
    for name, command in workloads(directory):
        if shutil.which(command[0]) is None:
            continue
        results = {}
        for _ in range(runs):
            for profiler, prefix in profilers(memprof, directory):
                begin = time.monotonic()
                subprocess.run([*prefix, *command], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=True, cwd=directory)
                results.setdefault(profiler, []).append(time.monotonic() - begin)
        row(name, results, "s ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("what", nargs="*", default=[])
    parser.add_argument("-n", type=int, default=3)
    arguments = parser.parse_args()
    memprof = os.path.join(arguments.build, "bin", "memprof")
    what = arguments.what or ["pairs", "programs"]
    if "instructions" in what:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "instructions.py"),
                        arguments.build], check=True)
    with tempfile.TemporaryDirectory(prefix="memprof-bench-") as directory:
        if "pairs" in what:
            pairs(arguments.build, memprof, arguments.n, directory)
        if "programs" in what:
            programs(memprof, arguments.n, directory)


if __name__ == "__main__":
    main()
