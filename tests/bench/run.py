#!/usr/bin/python3
"""Benchmarks: bare, memprof and (where it is installed) heaptrack in turn, medians, and the
overhead over bare as a ratio to heaptrack's. Ratios hold on a noisy machine, absolute times don't.

usage: run.py BENCH-BUILD [-n RUNS] [WHAT…]
  pairs, programs
           of memprof beside heaptrack; without an argument both
  instructions, cost-instructions
           of pair_bench and of cost_bench, counted by callgrind
  costs    ns per pair as live blocks, call stacks, their depth and the time grow: a table for
           COSTS.md; one part of it: live, depth, time
  sites    ns per allocation and free where stacks are many and each comes seldom: as many as
           octave (42,840) and clang (164,848) have in their first millions of allocations
  threads  allocations per second of one and of two threads that only allocate
  jemalloc pair_bench with jemalloc as a library (interposed) and inside (hooked)
  floor    programs, redis and pair_bench under floor_preload.c, which does the least that an exact
           tracker must, beside memprof, and with --sample 512K
"""
import argparse
import os
import re
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


def pair_ns(command, directory, environment=None):
    done = subprocess.run(command, capture_output=True, check=True, cwd=directory, env=environment)
    words = [w for w in done.stdout.decode().split() if w.replace(".", "").isdigit() and "." in w]
    return float(words[-1])


def pairs(build, memprof, runs, directory):
    print("ns per malloc+free pair, 100,000 live")
    program = os.path.join(build, "tests", "pair_bench")
    for threads in (1, 2):
        for depth in (8, 23, 60):
            for changing in (0, 4):
                results = {}
                for _ in range(runs):
                    for name, command in profilers(memprof, directory):
                        results.setdefault(name, []).append(pair_ns(
                            [*command, program, str(depth), str(changing), str(threads), "300000"],
                            directory))
                row(f"{threads} thread(s) depth {depth:2} change {changing}", results, "ns")


def sites(build, memprof, runs, directory):
    print("ns per malloc and free, 1,000 live, 2.5 million from stacks of 26 frames drawn at random")
    program = os.path.join(build, "tests", "sites_bench")
    for count in (1000, 10000, 42840, 164848):
        results = {}
        for _ in range(runs):
            for name, command in profilers(memprof, directory):
                results.setdefault(name, []).append(
                    pair_ns([*command, program, str(count), "2500000", "20"], directory))
        row(f"{count:,} stacks", results, "ns")


LIVE, SITES, DEPTHS = (10000, 100000, 1000000, 10000000), (10, 1000, 100000), (8, 23, 60, 120, 200)
# Live blocks and stacks. Beyond, heaptrack 1.4.0's interpreter ends cost_bench with a bad_alloc or
# hangs; and a run takes minutes.
HEAPTRACK_LIVE, HEAPTRACK_SITES = 100000, 10


def numbers(command, directory):
    """The numbers that a benchmark prints, between what a profiler prints."""
    done = subprocess.run(command, capture_output=True, check=True, cwd=directory)
    return [float(line) for line in done.stdout.decode().splitlines()
            if re.fullmatch(r"\d+\.\d+", line)]


def median_of(commands, runs, directory):
    """{profiler: the median of all runs of the median of a run's rounds}, in turn."""
    results = {}
    for _ in range(runs):
        for name, command in commands:
            results.setdefault(name, []).append(statistics.median(numbers(command, directory)))
    return {name: statistics.median(values) for name, values in results.items()}


def table(title, first, rows):
    """rows: (what, {profiler: ns}); heaptrack's column is empty where it wasn't run."""
    print(f"\n## {title}\n\n| {first} | bare | memprof | heaptrack | memprof adds |\n"
          "|---|---|---|---|---|", flush=True)
    for what, ns in rows:
        theirs = f"{ns['heaptrack']:.0f}" if "heaptrack" in ns else ""
        print(f"| {what} | {ns['bare']:.0f} | {ns['memprof']:.0f} | {theirs} | "
              f"{ns['memprof'] - ns['bare']:.0f} |", flush=True)


def costs(build, memprof, runs, directory, parts):
    program = os.path.join(build, "tests", "cost_bench")

    def measure(live, sites, depth, where, pairs=300000):
        arguments = [program, "pairs", str(live), str(sites), str(depth), where, str(pairs), "5"]
        return median_of([(name, [*prefix, *arguments])
                          for name, prefix in profilers(memprof, directory)
                          if name != "heaptrack" or
                          (live <= HEAPTRACK_LIVE and sites <= HEAPTRACK_SITES)],
                         runs, directory)

    if "live" in parts:
        table("Live blocks and call stacks, depth 23", "live, stacks",
              ((f"{live:,}, {sites:,}", measure(live, sites, 23, "inner"))
               for live in LIVE for sites in SITES))
    if "depth" in parts:
        for where, title in (("inner", "the innermost 7 frames are new"),
                             ("outer", "all frames are new")):
            for sites in (10, 1000):
                table(f"Depth, 100,000 live, {sites:,} stacks, {title}", "depth",
                      ((f"{depth}", measure(100000, sites, depth, where, 100000))
                       for depth in DEPTHS))
    if "time" in parts:
        print("\n## Time: 60 million pairs, 100,000 live, 1,000 stacks, depth 23\n\n"
              "| | the first 10 million | the last 10 million |\n|---|---|---|", flush=True)
        for name, prefix in profilers(memprof, directory):
            if name != "heaptrack":
                rounds = numbers([*prefix, program, "pairs", "100000", "1000", "23", "inner",
                                  "1000000", "60"], directory)
                print(f"| {name} | {statistics.median(rounds[:10]):.0f} | "
                      f"{statistics.median(rounds[-10:]):.0f} |", flush=True)


def threads(build, memprof, runs, directory):
    program = os.path.join(build, "tests", "cost_bench")
    for kind, count, mib, title in (
            ("allocate", 1500000, 0, "threads that only allocate, in new memory"),
            ("again", 1500000, 0, "threads that only allocate, in memory they had before"),
            ("pairs", 6000000, 0, "malloc+free pairs in a small heap"),
            ("pairs", 6000000, 256, "malloc+free pairs beside a block of 256 MiB")):
        print(f"\n## Millions of allocations per second, {title}\n\n"
              "| depth | | one thread | one, another sleeps | two | two/one | "
              "two/one, another sleeps |\n|---|---|---|---|---|---|---|", flush=True)
        for depth in (8, 23):
            for name, prefix in profilers(memprof, directory):
                medians = median_of(
                    [(case, [*prefix, program, "threads", str(threads), str(depth), kind,
                             str(count), str(mib), str(sleepers)])
                     for case, threads, sleepers in (("one", 1, 0), ("beside", 1, 1), ("two", 2, 0))],
                    runs, directory)
                one, beside, two = medians["one"], medians["beside"], medians["two"]
                print(f"| {depth} | {name} | {one:.2f} | {beside:.2f} | {two:.2f} | "
                      f"{two / one:.2f} | {two / beside:.2f} |", flush=True)


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


def redis(prefix, directory, environment):
    """Seconds that redis-benchmark takes; the server listens on loopback and is shut down."""
    port = "7399"
    server = subprocess.Popen(
        [*prefix, "redis-server", "--port", port, "--save", "", "--appendonly", "no", "--bind",
         "127.0.0.1"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=directory)
    try:
        client = ["redis-cli", "-p", port]
        for _ in range(200):
            if subprocess.run([*client, "ping"], capture_output=True).stdout.startswith(b"PONG"):
                break
            time.sleep(0.05)
        begin = time.monotonic()
        subprocess.run(["redis-benchmark", "-p", port, "-q", "-n", "150000", "-r", "100000", "-P",
                        "16", "-d", "64", "-t", "set,lpush,hset,zadd"],
                       stdout=subprocess.DEVNULL, check=True, timeout=300)
        seconds = time.monotonic() - begin
        subprocess.run([*client, "shutdown", "nosave"], capture_output=True)
        server.wait(60)
        return seconds
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()


def floor(build, memprof, runs, directory):
    preload = os.path.join(build, "tests", "libfloor_preload.so")
    run = [memprof, "run", "-q", "-f", "-o", os.path.join(directory, "x.memprof")]
    variants = {
        "bare": ([], {}),
        "forward": ([], {"LD_PRELOAD": preload, "FLOOR": "forward"}),
        "map": ([], {"LD_PRELOAD": preload, "FLOOR": "map"}),
        "memprof": ([*run, "--"], {}),
        "sample": ([*run, "--sample", "512K", "--"], {}),
    }
    print("\n## Wall time as a ratio to bare\n\n| program | " +
          " | ".join(["bare, seconds", *list(variants)[1:]]) + " |\n" +
          "|---" * (len(variants) + 1) + "|", flush=True)
    programs = [(name, command) for name, command in workloads(directory)
                if shutil.which(command[0])]
    for name, command in [*programs, ("redis-server", None)]:
        results = {}
        for _ in range(runs):
            for variant, (prefix, extra) in variants.items():
                environment = {**os.environ, **extra}
                if command is None:
                    seconds = redis(prefix, directory, environment)
                else:
                    begin = time.monotonic()
                    subprocess.run([*prefix, *command], stdout=subprocess.DEVNULL, env=environment,
                                   stderr=subprocess.DEVNULL, check=True, cwd=directory)
                    seconds = time.monotonic() - begin
                results.setdefault(variant, []).append(seconds)
        median = {variant: statistics.median(values) for variant, values in results.items()}
        print(f"| {name} | {median['bare']:.2f} | " + " | ".join(
            f"{median[variant] / median['bare']:.2f}" for variant in list(variants)[1:]) + " |",
              flush=True)
    print("\n## Nanoseconds a malloc+free pair, 100,000 live, 23 frames\n\n| frames that change | " +
          " | ".join(variants) + " |\n" + "|---" * (len(variants) + 1) + "|", flush=True)
    for changing in (0, 4):
        results = {}
        for _ in range(runs):
            for variant, (prefix, extra) in variants.items():
                results.setdefault(variant, []).append(pair_ns(
                    [*prefix, os.path.join(build, "tests", "pair_bench"), "23", str(changing), "1",
                     "300000"], directory, {**os.environ, **extra}))
        print(f"| {changing} | " + " | ".join(
            f"{statistics.median(results[variant]):.0f}" for variant in variants) + " |", flush=True)


def jemalloc(build, memprof, runs, directory):
    prefixes = dict(profilers(memprof, directory))
    print("\n## Nanoseconds a malloc+free pair of jemalloc, 100,000 live, 23 frames\n\n"
          "| frames that change | linked, bare | memprof | inside, bare | memprof | hooks add |\n"
          "|---|---|---|---|---|---|", flush=True)
    for changing in (0, 4):
        results = {}
        for _ in range(runs):
            for variant in ("linked", "inner"):
                program = [os.path.join(build, "tests", f"pair_bench_{variant}_jemalloc"), "23",
                           str(changing), "1", "300000"]
                for profiler in ("bare", "memprof"):
                    results.setdefault((variant, profiler), []).append(
                        pair_ns([*prefixes[profiler], *program], directory))
        ns = {key: statistics.median(values) for key, values in results.items()}
        adds = (ns["inner", "memprof"] - ns["inner", "bare"] -
                (ns["linked", "memprof"] - ns["linked", "bare"]))
        print(f"| {changing} | " + " | ".join(f"{value:.0f}" for value in ns.values()) +
              f" | {adds:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("what", nargs="*", default=[])
    parser.add_argument("-n", type=int, default=3)
    arguments = parser.parse_intermixed_args()
    arguments.build = os.path.abspath(arguments.build)  # the benchmarks run elsewhere
    memprof = os.path.join(arguments.build, "bin", "memprof")
    what = arguments.what or ["pairs", "programs"]
    if "instructions" in what:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "instructions.py"),
                        arguments.build], check=True)
    if "cost-instructions" in what:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "instructions.py"),
                        arguments.build, "costs"], check=True)
    with tempfile.TemporaryDirectory(prefix="memprof-bench-") as directory:
        if "pairs" in what:
            pairs(arguments.build, memprof, arguments.n, directory)
        if "sites" in what:
            sites(arguments.build, memprof, arguments.n, directory)
        if "threads" in what:
            threads(arguments.build, memprof, arguments.n, directory)
        parts = {"live", "depth", "time"} if "costs" in what else {"live", "depth", "time"} & {*what}
        if parts:
            costs(arguments.build, memprof, arguments.n, directory, parts)
        if "floor" in what:
            floor(arguments.build, memprof, arguments.n, directory)
        if "jemalloc" in what:
            jemalloc(arguments.build, memprof, arguments.n, directory)
        if "programs" in what:
            programs(memprof, arguments.n, directory)


if __name__ == "__main__":
    main()
