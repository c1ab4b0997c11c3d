"""Processor time of scripts: bare, under memprof and under Memray, by turns."""
import os
import statistics
import subprocess
import time

import scripts

ROUNDS = 5


def cpu_seconds(command, folder, variables):
    """(processor time, wall time) of a command that must succeed, children included."""
    start, before = time.monotonic(), os.times()
    subprocess.run(command, cwd=folder, check=True, env=dict(os.environ, **variables),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user
            - before.children_system, time.monotonic() - start)


def ways(memprof, python, folder):
    ours = [memprof, "run", "-q", "-f", "-o", os.path.join(folder, "x.memprof")]
    theirs = [python, "-m", "memray", "run", "-q", "-f", "-o", os.path.join(folder, "x.bin"),
              "--aggregate"]
    return {"bare": [python], "memprof": [*ours, "--", python], "memray": theirs,
            "memray --native": [*theirs, "--native"],
            "memprof, objects": [*ours, "--trace-python-allocators", "--", python],
            "memray, objects": [*theirs, "--trace-python-allocators"]}


def run(memprof, venv, folder):
    python = os.path.join(venv, "bin", "python")
    if subprocess.run([python, "-c", "import memray"], capture_output=True).returncode != 0:
        print("memray is not installed")
        return 0
    all_ways = ways(memprof, python, folder)
    print(f"load of others {os.getloadavg()[0]:.1f}; medians of {ROUNDS} rounds; processor time as a "
          "multiple of bare (wall)")
    print("| script | " + " | ".join(all_ways) + " |")
    for name in ("JSON", "Flask requests", "numpy", "pandas"):
        modules = scripts.SCRIPTS[name][0]
        if any(subprocess.run([python, "-c", f"import {m}"], capture_output=True).returncode
               for m in modules):
            print(f"{name}: {', '.join(modules)} not installed")
            continue
        script = os.path.join(folder, "script.py")
        scripts.write(name, script)
        variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        times = {way: [] for way in all_ways}
        for _ in range(ROUNDS):
            for way, command in all_ways.items():
                times[way].append(cpu_seconds([*command, script], folder, variables))
        cells = [f"{statistics.median(cpu for cpu, _ in times['bare']):.2f} s"]
        for way in list(all_ways)[1:]:
            ratios = [[t[i] / b[i] for t, b in zip(times[way], times["bare"])] for i in (0, 1)]
            cells.append(f"{statistics.median(ratios[0]):.2f} ({statistics.median(ratios[1]):.2f})")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0
