"""Bytes at the peak and leaked ones by Python function: memprof's beside Memray's.

Every object is a block of malloc in both (PYTHONMALLOC=malloc), so that both count the same calls.
Compared are the functions of the script, not its <module>: what it imports is loaded for Memray itself
already. Memray ends with the script's last line, memprof with the process: what the interpreter frees
meanwhile has leaked for Memray alone. So leaks are compared for blocks that nobody frees.
"""
import json
import os
import subprocess

import scripts

# In a Python that has Memray: prints {"peak": {function: [bytes, blocks]}, "leaked": …}.
READ = """
import json, sys
import memray
reader = memray.FileReader(sys.argv[1])
script = sys.argv[2]
def by_function(records):
    sums = {}
    for record in records:
        if record.allocator in (memray.AllocatorType.MMAP, memray.AllocatorType.MUNMAP):
            continue
        for function, file, line in record.stack_trace():
            if file == script and function != "<module>":
                known = sums.setdefault(function, [0, 0])
                known[0] += record.size
                known[1] += record.n_allocations
                break
    return sums
print(json.dumps({"peak": by_function(reader.get_high_watermark_allocation_records(merge_threads=True)),
                  "leaked": by_function(reader.get_leaked_allocation_records(merge_threads=True))}))
"""

# Functions with less aren't compared. Beyond this a function's bytes are said to differ.
LEAST_BYTES = 50_000
SHARE = 0.02


def ours(memprof, capture, script):
    done = subprocess.run([memprof, "transform", "json", "--stack-table", capture], capture_output=True,
                          check=True)
    profile = json.loads(done.stdout)
    # The function that a stack counts for, by the stack; a caller stands before whom it calls.
    function_of = []
    for stack in profile["stacks"]:
        name = None
        if stack["frame"] is not None:
            frame = profile["frames"][stack["frame"]]
            if (frame["kind"] == "python" and frame["file"] == script and
                    frame["function"] != "<module>"):
                name = frame["function"].split(".")[-1]  # Memray has the bare name
            else:
                name = function_of[stack["caller"]]
        function_of.append(name)
    sums = {"peak": {}, "leaked": {}}
    for site in profile["sites"]:
        name = function_of[site["stack"]]
        if name:
            for figure, by in sums.items():
                known = by.setdefault(name, [0, 0])
                known[0] += site[figure]["bytes"]
                known[1] += site[figure]["allocations"]
    return sums


def run(memprof, venv, folder):
    python = os.path.join(venv, "bin", "python")
    if subprocess.run([python, "-c", "import memray"], capture_output=True).returncode != 0:
        print("memray is not installed")
        return 0
    differences = 0
    for name, count, figures in (("JSON", 5000, ("peak",)), ("numpy", 2, ("peak",)),
                                 ("pandas", 2, ("peak",)), ("leaks", 1000, ("peak", "leaked")),
                                 ("Flask requests", 100, ("peak",))):
        modules = scripts.SCRIPTS[name][0]
        if any(subprocess.run([python, "-c", f"import {m}"], capture_output=True).returncode
               for m in modules):
            print(f"{name}: {', '.join(modules)} not installed")
            continue
        script = os.path.join(folder, "script.py")
        # Without the collector: when it runs depends on how many objects Memray itself has made, and with it
        # the moment of the peak.
        scripts.write(name, script, count, before="import gc\ngc.disable()\n")
        variables = dict(os.environ, PYTHONMALLOC="malloc", PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1")
        capture, theirs = os.path.join(folder, "x.memprof"), os.path.join(folder, "x.bin")
        subprocess.run([memprof, "run", "-q", "-f", "-o", capture, "--", python, script], check=True,
                       env=variables)
        subprocess.run([python, "-m", "memray", "run", "-q", "-f", "--aggregate", "-o", theirs, script], check=True,
                       env=variables)
        read = subprocess.run([python, "-c", READ, theirs, script], capture_output=True, check=True)
        memray, memprofs = json.loads(read.stdout), ours(memprof, capture, script)
        for figure in figures:
            for function in sorted(memray[figure].keys() | memprofs[figure].keys()):
                a, b = memprofs[figure].get(function, [0, 0]), memray[figure].get(function, [0, 0])
                if max(a[0], b[0]) < LEAST_BYTES:
                    continue
                differs = abs(a[0] - b[0]) > SHARE * max(a[0], b[0])
                differences += differs
                print(f"{name}, {figure}, {function}: memprof {a[0]:,} B in {a[1]:,}, Memray {b[0]:,} B "
                      f"in {b[1]:,}{'  DIFFERS' if differs else ''}", flush=True)
    return differences
