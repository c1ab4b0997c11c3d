#!/usr/bin/python3
"""Instructions per malloc+free pair by function, with callgrind. They are the same on every machine
and at every load, so that an increase is noticed. Compare with tests/bench/INSTRUCTIONS.md.

usage: instructions.py BENCH-BUILD [costs]
  costs  of cost_bench instead, one line a case: for tests/bench/COSTS.md
"""
import os
import re
import subprocess
import sys
import tempfile

# The difference of two lengths is the steady state.
SHORT, LONG = 10000, 20000


def pair_bench(depth, changing):
    return lambda count: (["pair_bench", depth, changing, "1", str(count)], 7 * count)


def not_alone(count):
    return ["cost_bench", "threads", "1", "23", "pairs", str(count), "256", "1"], count


# Title, what runs: its arguments and how many pairs it makes, flags.
CASES = (("8 frames, none changes", pair_bench("8", "0"), []),
         ("23 frames, none changes", pair_bench("23", "0"), []),
         ("23 frames, the last 4 change", pair_bench("23", "4"), []),
         ("23 frames, none changes, each block freed at once, beside 256 MiB and a thread that sleeps",
          not_alone, []),
         ("With --sample 512K", pair_bench("23", "4"), ["--sample", "512K"]))

# live, stacks, depth, where they differ, pairs: the first run has met all stacks.
COST_CASES = (("1000", "10", "23", "inner", 20000), ("1000", "1000", "23", "inner", 20000),
              ("1000", "100000", "23", "inner", 600000), ("300000", "1000", "23", "inner", 20000),
              ("1000", "1000", "60", "inner", 20000), ("1000", "1000", "200", "inner", 20000),
              ("1000", "1000", "60", "outer", 10000), ("1000", "1000", "200", "outer", 10000))


def counts(build, arguments, directory, flags=()):
    """Instructions of each function of the preload in one run, and of all."""
    program = os.path.join(build, "tests", arguments[0])
    subprocess.run(
        ["valgrind", "--tool=callgrind", "--trace-children=yes",
         f"--callgrind-out-file={directory}/out.%p", os.path.join(build, "bin", "memprof"), "run",
         "-q", "-f", "-o", os.path.join(directory, "x.memprof"), *flags, "--", program,
         *arguments[1:]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    functions, total = {}, 0
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if name.startswith("out."):
            with open(path, encoding="utf-8", errors="replace") as file:
                ours = re.search(rf"^cmd: +{re.escape(program)} ", file.read(4096), re.M)
            if ours:
                text = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no",
                                       path], check=True, capture_output=True, text=True).stdout
                for line in text.splitlines():
                    found = re.match(r" *([\d,]+) +(.*)", line)
                    if not found:
                        continue
                    number = int(found[1].replace(",", ""))
                    if "PROGRAM TOTALS" in line:
                        total = number
                    elif "libmemprof_preload" in line:
                        function = re.sub(r"\(.*|.*:(?=memprof::|\w+$)", "", found[2].split(" [")[0]
                                          .replace("(anonymous namespace)::", "")).split(":")[-1]
                        functions[function] = functions.get(function, 0) + number
            os.unlink(path)
    return functions, total


def costs(build, directory):
    print("| live, stacks, depth, where they differ | Node, Site | CaptureStack, CaptureChanged "
          "| all of memprof | with the program and libc |\n|---|---|---|---|---|", flush=True)
    for *case, pairs in COST_CASES:
        short, short_total = counts(build, ["cost_bench", "pairs", *case, str(pairs), "1"], directory)
        long, long_total = counts(build, ["cost_bench", "pairs", *case, str(2 * pairs), "1"],
                                  directory)
        each = {name: (long[name] - short.get(name, 0)) / pairs for name in long}
        print(f"| {', '.join(case)} | {each.get('Node', 0) + each.get('Site', 0):.0f} | "
              f"{each.get('CaptureStack', 0) + each.get('CaptureChanged', 0):.0f} | "
              f"{sum(each.values()):.0f} | {(long_total - short_total) / pairs:.0f} |", flush=True)


def main():
    build = os.path.abspath(sys.argv[1])
    if "costs" in sys.argv[2:]:
        with tempfile.TemporaryDirectory(prefix="memprof-bench-") as directory:
            costs(build, directory)
        return
    with tempfile.TemporaryDirectory(prefix="memprof-bench-") as directory:
        for title, case, flags in CASES:
            (fewer, fewer_pairs), (more, more_pairs) = case(SHORT), case(LONG)
            short, short_total = counts(build, fewer, directory, flags)
            long, long_total = counts(build, more, directory, flags)
            pairs = more_pairs - fewer_pairs
            each = {name: (long[name] - short.get(name, 0)) / pairs for name in long}
            print(f"## {title}\n\n| function | instructions a pair |\n|---|---|")
            for name, value in sorted(each.items(), key=lambda item: -item[1]):
                if value >= 5:
                    print(f"| {name} | {value:.0f} |")
            print(f"| all of memprof | {sum(each.values()):.0f} |")
            print(f"| with the program and libc | {(long_total - short_total) / pairs:.0f} |\n",
                  flush=True)


if __name__ == "__main__":
    main()
