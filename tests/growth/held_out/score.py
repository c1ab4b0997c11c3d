#!/usr/bin/python3
"""How well memprof growth tells leaks from what is harmless, on programs whose truth is known.

Builds every program of programs/, runs each under memprof at the scales that it names, asks memprof
growth, and compares with the truth in the program's header comment:

    // shape: one line
    // leaks: Function, Other (mapped)      places that leak (mapped: by mmap, not from the heap)
    // harmless: Function, Other            places that may not be called growing
    // either: Function                     places that grow with what leaks, but hardly
    // runs: small medium large             the scales at which it runs

Names may have * as in a shell.

A row belongs to the function of the truth that is its innermost frame, its callers included. A leak is found
if a row that is called growing belongs to it; a false alarm is a row that is called growing and belongs to
what is harmless, or to nothing that the truth names. Captures stay in captures/, so that --again judges them by
another memprof without running anything.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ROOT = HERE.parents[2]
BUILD = ROOT / "build/growth/programs"
CAPTURES = ROOT / "build/growth/captures"
RESULTS = ROOT / "build/growth/results.json"
SCALES = ("small", "medium", "large")


@dataclasses.dataclass
class Leak:
    function: str
    mapped: bool


@dataclasses.dataclass
class Truth:
    name: str
    shape: str
    leaks: list
    harmless: list
    either: list
    runs: list


@dataclasses.dataclass
class Row:
    function: str
    frames: list
    verdict: str
    reason: str
    bytes_per_hour: float
    live: int


@dataclasses.dataclass
class Outcome:
    name: str
    scale: str
    shape: str
    leaks: list
    found: list
    missed: list
    noticed: list
    false_alarms: list
    program_verdict: str
    beside_verdict: str = ""
    error: str = ""


def read_truth(source):
    fields = {}
    key = None
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        text = line[2:].strip()
        match = re.match(r"(shape|leaks|harmless|either|runs): *(.*)", text)
        if match:
            key = match[1]
            fields[key] = match[2]
        elif key and text:
            fields[key] += " " + text
    def names(key):
        # A comma inside brackets belongs to the name.
        found = (n.strip() for n in re.split(r",(?![^\[]*\])", fields.get(key, "")))
        return [n for n in found if n not in ("", "none")]

    leaks = [Leak(n.removesuffix("(mapped)").strip(), n.endswith("(mapped)")) for n in names("leaks")]
    runs = fields.get("runs", "medium").split()
    unknown = [r for r in runs if r not in SCALES]
    if unknown or "shape" not in fields or "leaks" not in fields:
        sys.exit(f"{source}: no shape, no leaks, or unknown scales {unknown}")
    for name in (*(leak.function for leak in leaks), *names("harmless"), *names("either")):
        if not name.startswith("[") and "*" not in name and not re.search(r"\b%s\b *\(" % re.escape(name), source.read_text()):
            sys.exit(f"{source}: no function {name}")
    return Truth(source.stem, fields["shape"], leaks, names("harmless"), names("either"), runs)


def build(truth):
    source, binary = PROGRAMS / f"{truth.name}.cc", BUILD / truth.name
    newest = max(p.stat().st_mtime for p in (source, *PROGRAMS.glob("*.h")))
    if binary.exists() and binary.stat().st_mtime > newest:
        return
    command = ["g++", "-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-pthread", source, "-o", binary]
    subprocess.run(command, check=True)


def capture_of(truth, scale):
    return CAPTURES / f"{truth.name}.{scale}.memprof"


def run(memprof, truth, scale):
    """Runs a program under memprof; says what went wrong. The capture is kept with its names in it, so that
    it can be judged without the program."""
    capture = capture_of(truth, scale)
    log = capture.with_suffix(".log")
    command = ["nice", "-n", "5", memprof, "run", "-q", "-f", "-o", capture, BUILD / truth.name, scale]
    with open(log, "w") as output:
        status = subprocess.run(command, stdout=output, stderr=output, timeout=300).returncode
        if capture.exists():
            symbolize(memprof, capture, output)
    return "" if status == 0 else f"exit status {status}, see {log.name}"


def symbolize(memprof, capture, output=subprocess.DEVNULL):
    subprocess.run([memprof, "symbolize", "-q", "--download-limit", "0", capture], stdout=output, stderr=output)


def short_name(function):
    """The last component of a function's name, without arguments, templates and return type; the start of
    it if the report has shortened it."""
    head = function.split("…")[0]
    head = head.replace("(anonymous namespace)", "")
    head = re.sub(r"\[abi:\w+\]?|\[abi:?$", "", head)
    while re.search(r"<[^<>]*>", head):
        head = re.sub(r"<[^<>]*>", "", head)
    head = head.split("(")[0].split("<")[0].strip()
    return head.split("::")[-1].split(" ")[-1]


def is_named(function, frame):
    """Whether a frame is the function's, although the report may have shortened the frame."""
    if frame.startswith("["):
        return frame == function
    name = short_name(frame)
    if fnmatch.fnmatchcase(name, function):
        return True
    if "…" in frame and "(" not in frame.split("…")[0]:
        return len(name) >= 8 and function.startswith(name)
    return False


def growing(verdict):
    return re.match(r"(grow|leak)", verdict) is not None


def owner(truth, row):
    """The function of the truth that a row belongs to: that of the innermost frame that the truth names."""
    names = [leak.function for leak in truth.leaks] + truth.harmless + truth.either
    return next((n for frame in row.frames for n in names if is_named(n, frame)), None)


def callers(report):
    """The callers under each row of the table for people, in its order, for those that grow."""
    rows = []
    inside = False
    for line in report.splitlines():
        if line.startswith("What grows"):
            inside = True
            continue
        if not inside or not line.strip():
            continue
        text = line.strip()
        if text.startswith("←"):
            if rows:
                rows[-1][1].extend(f.strip() for f in text.split("←") if f.strip())
        else:
            rows.append((text, []))
    return rows


def judge(memprof, truth, scale):
    capture = capture_of(truth, scale)
    base = [memprof, "growth", "--download-limit", "0", "--all"]
    environment = dict(os.environ, COLUMNS="1000")
    answer = subprocess.run([*base, "--json", capture], capture_output=True, text=True, env=environment)
    table = subprocess.run([*base, "-n", "0", capture], capture_output=True, text=True, env=environment)
    outcome = Outcome(truth.name, scale, truth.shape, [l.function for l in truth.leaks], [], [], [], [], "")
    try:
        report = json.loads(answer.stdout)
        growth = report["growth"]
        rows_json = report["rows"]
    except (ValueError, KeyError):
        outcome.error = (answer.stderr.strip().splitlines() or ["no report"])[-1]
        outcome.missed = [l.function for l in truth.leaks]
        return outcome
    printed = callers(table.stdout)
    rows = []
    for row in rows_json:
        if not growing(row["verdict"]):
            continue
        frames = [row["function"]]
        # A later memprof may give them in JSON, too.
        for key in ("frames", "stack", "callers", "via"):
            for frame in row.get(key) or []:
                frames.append(frame["function"] if isinstance(frame, dict) else str(frame))
        place = f"{pathlib.Path(row['file']).name}:{row['line']}"
        name = row["function"][:20]
        for i, (text, above) in enumerate(printed):
            if name in text and text.endswith(place):
                frames.extend(above)
                del printed[i]
                break
        rows.append(Row(row["function"], frames, row["verdict"], row["reason"], row["bytes_per_hour"] or 0,
                        row["live"]["bytes"]))
    outcome.program_verdict = growth["program"]["verdict"]
    outcome.beside_verdict = growth.get("rss_beside_heap", {}).get("verdict", "")
    # Mapped memory may have rows of its own, or be noticed as a whole only.
    whole = [k for k, v in growth.items() if k != "program" and isinstance(v, dict) and growing(v.get("verdict", ""))]
    owners = [owner(truth, row) for row in rows]
    for leak in truth.leaks:
        hit = leak.function in owners
        (outcome.found if hit else outcome.missed).append(leak.function)
        if leak.mapped and not hit and whole:
            outcome.noticed.append(leak.function)
    innocent = {leak.function for leak in truth.leaks} | set(truth.either)
    for row, name in zip(rows, owners):
        if name not in innocent:
            outcome.false_alarms.append(
                {"owner": name or "?", "place": " ← ".join(short_name(f) for f in row.frames),
                 "verdict": row.verdict, "reason": row.reason, "bytes_per_hour": row.bytes_per_hour,
                 "live": row.live})
    return outcome


def ratio(part, whole):
    return f"{part}/{whole}" + (f" = {100 * part / whole:.1f} %" if whole else "")


def totals(outcomes, truths, label):
    mapped = {(t.name, l.function) for t in truths for l in t.leaks if l.mapped}
    leaks = sum(len(o.leaks) for o in outcomes)
    found = sum(len(o.found) for o in outcomes)
    heap = sum((o.name, f) not in mapped for o in outcomes for f in o.leaks)
    heap_found = sum((o.name, f) not in mapped for o in outcomes for f in o.found)
    noticed = sum(len(o.noticed) for o in outcomes)
    false_alarms = sum(len(o.false_alarms) for o in outcomes)
    clean = [o for o in outcomes if not o.leaks]
    leaky = [o for o in outcomes if o.leaks]
    print(f"{label + ':':8} recall {ratio(found, leaks)} (heap only {ratio(heap_found, heap)}; "
          f"{noticed} mapped noticed as a whole only), "
          f"precision {ratio(found, found + false_alarms)} ({false_alarms} false alarms)")
    print(f"{'':8} runs without any leak that are said to be clean, by place: "
          f"{ratio(sum(not o.false_alarms for o in clean), len(clean))}; "
          f"the whole heap: {ratio(sum(not growing(o.program_verdict) for o in clean), len(clean))}; "
          f"beside the heap: {ratio(sum(not growing(o.beside_verdict) for o in clean), len(clean))}")
    print(f"{'':8} runs with leaks whose heap as a whole is said to grow: "
          f"{ratio(sum(growing(o.program_verdict) for o in leaky), len(leaky))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memprof", default=ROOT / "build/release/bin/memprof", type=pathlib.Path, metavar="PATH")
    parser.add_argument("--jobs", type=int, default=6, metavar="N", help="run so many programs at a time")
    parser.add_argument("--only", action="append", metavar="NAME", help="NAME or NAME.SCALE; repeatable")
    parser.add_argument("--scale", choices=SCALES)
    parser.add_argument("--again", action="store_true", help="judge the saved captures, run nothing")
    parser.add_argument("--missing", action="store_true", help="run only what has no capture yet, or an old one")
    parser.add_argument("--summary", action="store_true", help="print the totals alone")
    parser.add_argument("--truth", action="store_true", help="print the truth as JSON, and do nothing else")
    arguments = parser.parse_args()
    memprof = arguments.memprof.resolve()

    truths = [read_truth(source) for source in sorted(PROGRAMS.glob("*.cc"))]
    if arguments.truth:
        print(json.dumps([dataclasses.asdict(t) for t in truths], indent=1))
        return
    names = {n for t in truths for n in (t.name, *(f"{t.name}.{s}" for s in t.runs))}
    for name in arguments.only or []:
        if name not in names:
            sys.exit(f"no program {name}")
    wanted = lambda t, s: ((not arguments.only or t.name in arguments.only or f"{t.name}.{s}" in arguments.only)
                           and arguments.scale in (None, s))
    runs = [(t, s) for t in truths for s in t.runs if wanted(t, s)]

    BUILD.mkdir(parents=True, exist_ok=True)
    CAPTURES.mkdir(parents=True, exist_ok=True)
    errors = {}
    if not arguments.again:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(build, {t.name: t for t, _ in runs}.values()))
        due = runs
        if arguments.missing:
            due = [(t, s) for t, s in runs if not capture_of(t, s).exists()
                   or capture_of(t, s).stat().st_mtime < (BUILD / t.name).stat().st_mtime]
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            futures = {pool.submit(run, memprof, t, s): (t, s) for t, s in due}
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                t, s = futures[future]
                errors[t.name, s] = future.result()
                if sys.stderr.isatty():
                    print(f"\r{done} of {len(due)} runs, {time.monotonic() - start:.0f} s ", end="", file=sys.stderr)
        if sys.stderr.isatty():
            print(file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda ts: judge(memprof, *ts), runs))
    for outcome in outcomes:
        outcome.error = errors.get((outcome.name, outcome.scale)) or outcome.error
    if not arguments.only and not arguments.scale:
        RESULTS.write_text(json.dumps([dataclasses.asdict(o) for o in outcomes], indent=1) + "\n")

    if not arguments.summary:
        for o in outcomes:
            good = not o.missed and not o.false_alarms and not o.error
            print(f"{'ok  ' if good else 'BAD '} {o.name}.{o.scale}: found {', '.join(o.found) or '-'}"
                  + (f"; missed {', '.join(o.missed)}" if o.missed else "")
                  + (f" (noticed as a whole: {', '.join(o.noticed)})" if o.noticed else "")
                  + (f"; heap: {o.program_verdict}")
                  + (f"; error: {o.error}" if o.error else ""))
            for alarm in o.false_alarms:
                print(f"       false alarm, {alarm['owner']}: {alarm['place']}: {alarm['verdict']} "
                      f"({alarm['reason']}), {alarm['live'] / 1024:.1f} KiB")
    failed = [o for o in outcomes if o.error]
    if failed:
        print(f"{len(failed)} runs without a report or with an error")
    print(f"{len(truths)} programs, {len(outcomes)} runs")
    totals(outcomes, truths, "all")
    for scale in SCALES:
        part = [o for o in outcomes if o.scale == scale]
        if part:
            totals(part, truths, scale)


if __name__ == "__main__":
    main()
