"""Attaches to real programs many times in a row, and lets them go; or inspects them under memprof run,
with an inspector that is killed now and then. What they say must be what they say alone, no stop of theirs
may take longer than 300 ms, and no process may stay behind. Run by ./dev attach and ./dev inspect.

usage: suite.py BUILD attach|inspect [TIMES]
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
INSPECTS = sys.argv[2] == "inspect"
TIMES = int(sys.argv[3]) if len(sys.argv) > 3 else 50
MEMPROF = os.path.join(BUILD, "bin", "memprof")
LONGEST_MS = 300
STOOD = re.compile(r"stood still for ([0-9.]+) ms")


class Failure(Exception):
    pass


def attach_once(pid, directory):
    """One attach of a while; its stops in ms, and the allocations it counted."""
    capture = os.path.join(directory, "x.memprof")
    attached = subprocess.Popen([MEMPROF, "attach", str(pid), "-f", "-o", capture],
                                stderr=subprocess.PIPE, text=True)
    first = attached.stderr.readline()
    if not STOOD.search(first):
        raise Failure(first + attached.stderr.read())
    time.sleep(0.1)
    done = subprocess.run([MEMPROF, "detach", str(pid)], capture_output=True, text=True, timeout=60)
    rest = attached.communicate(timeout=60)[1]
    if done.returncode != 0 or attached.returncode != 0 or "slots put back" not in rest:
        raise Failure(done.stderr + rest)
    if "stays in process" in rest:
        raise Failure(rest)
    counted = re.search(r"([0-9,]+) allocations? in all", rest)
    return [float(ms) for ms in STOOD.findall(first + rest)], int(counted[1].replace(",", "")) if counted else 0


def start(command, directory, **options):
    """The program; for inspections under memprof, which gives back its status."""
    if INSPECTS:
        command = [MEMPROF, "run", "-q", "-f", "-o", os.path.join(directory, "run.memprof"), "--", *command]
    return subprocess.Popen(command, **options)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return file.read().split()


def inspect_often(name, run):
    """Every fifth inspector is killed at a moment of its work."""
    pid = int(children_of(run.pid)[0])
    before = children_of(pid)
    stops, live = [], []
    for i in range(TIMES):
        if run.poll() is not None:
            raise Failure(f"{name} ended with {run.returncode} before time {i}")
        command = [MEMPROF, "inspect", str(pid), "-q", "--json"]
        if i % 5 == 4:
            killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.01 * (i % 30))
            killed.kill()
            killed.wait()
            continue
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Failure(f"{name}, time {i}: {done.stderr}")
        found = json.loads(done.stdout)
        stops.append(found["longest_pause_us"] / 1000)
        live.append(found["live"]["allocations"])
    end = time.monotonic() + 10
    while children_of(pid) != before and time.monotonic() < end:
        time.sleep(0.05)
    if children_of(pid) != before:
        raise Failure(f"{name} has children: {children_of(pid)}")
    if min(live) == 0:
        raise Failure(f"{name}: nothing was live")
    print(f"{name}: inspected {len(live)} times, {TIMES - len(live)} more were killed; up to "
          f"{max(live)} live blocks; longest stop {max(stops):.1f} ms, median "
          f"{sorted(stops)[len(stops) // 2]:.1f} ms", flush=True)
    return max(stops)


def do_often(name, process, directory):
    return inspect_often(name, process) if INSPECTS else attach_often(name, process, directory)


def attach_often(name, process, directory):
    stops, counted = [], 0
    for i in range(TIMES):
        if process.poll() is not None:
            raise Failure(f"{name} ended with {process.returncode} before time {i}")
        ms, allocations = attach_once(process.pid, directory)
        stops += ms
        counted += allocations
    if counted == 0:
        raise Failure(f"{name}: nothing was counted")
    print(f"{name}: {TIMES} times; {counted} allocations counted; longest stop {max(stops):.1f} ms, "
          f"median {sorted(stops)[len(stops) // 2]:.1f} ms", flush=True)
    return max(stops)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def redis(directory):
    port = str(free_port())
    server = start(["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
                    "--appendonly", "no"], directory, stdout=subprocess.DEVNULL, cwd=directory)
    load = None
    try:
        for _ in range(100):
            if subprocess.run(["redis-cli", "-p", port, "ping"], capture_output=True).stdout == b"PONG\n":
                break
            time.sleep(0.05)
        subprocess.run(["redis-cli", "-p", port, "set", "kept", "value"], check=True, capture_output=True)
        load = subprocess.Popen(["redis-benchmark", "-p", port, "-t", "set,lpush,hset", "-r", "10000",
                                 "-n", "100000000", "-q"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        longest = do_often("redis-server under load", server, directory)
        if load.poll() is not None:
            raise Failure(f"redis-benchmark ended with {load.returncode}")
        got = subprocess.run(["redis-cli", "-p", port, "get", "kept"], capture_output=True).stdout
        if got != b"value\n":
            raise Failure(f"redis-server lost what it had: {got}")
        load.kill()
        subprocess.run(["redis-cli", "-p", port, "shutdown", "nosave"], capture_output=True)
        if server.wait(20) != 0:
            raise Failure(f"redis-server ended with {server.returncode}")
        return longest
    finally:
        for process in (load, server):
            if process is not None and process.poll() is None:
                process.kill()
            if process is not None:
                process.wait()


PYTHON = """
import hashlib, sys
state, n = b"", 0
for line in sys.stdin: break
import select
while not select.select([sys.stdin], [], [], 0)[0]:
    words = [str(n * i) * 40 for i in range(200)]
    table = {w: len(w) for w in words}
    assert sum(table.values()) == sum(len(w) for w in set(words))
    state = hashlib.sha256(state + b"".join(w.encode() for w in sorted(table))).digest()
    n += 1
check = b""
for m in range(n):
    words = {str(m * i) * 40 for i in range(200)}
    check = hashlib.sha256(check + b"".join(w.encode() for w in sorted(words))).digest()
print("same" if check == state and n > 0 else "different", flush=True)
"""


def python(directory):
    process = start(["/usr/bin/python3", "-c", PYTHON], directory, stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        process.stdin.write("begin\n")
        time.sleep(0.3)
        longest = do_often("python3", process, directory)
        process.stdin.write("end\n")
        said = process.communicate(timeout=600)[0]
        if said != "same\n" or process.returncode != 0:
            raise Failure(f"python3 said {said!r} and ended with {process.returncode}")
        return longest
    finally:
        process.kill()
        process.wait()


def threads(directory):
    process = start([os.path.join(BUILD, "tests", "programs", "attached_to")], directory,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        process.stdin.write("threads 8\n")
        process.stdout.readline()
        longest = do_often("C++ with 8 threads that allocate", process, directory)
        process.stdin.write("calm\nend\n")
        said = process.communicate(timeout=60)[0].split()
        if process.returncode != 0 or said[0] != "done" or said[-1] != "bye" or int(said[1]) == 0:
            raise Failure(f"the threads said {said} and ended with {process.returncode}")
        return longest
    finally:
        process.kill()
        process.wait()


def main():
    directory = tempfile.mkdtemp(prefix="memprof-attach-")
    try:
        longest = max(program(directory) for program in (redis, python, threads))
    except Failure as failure:
        sys.exit(f"{sys.argv[2]}: {failure}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"longest stop of all: {longest:.1f} ms (at most {LONGEST_MS})")
    if longest > LONGEST_MS:
        sys.exit(1)


main()
