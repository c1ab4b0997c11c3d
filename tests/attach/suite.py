"""Attaches to real programs many times in a row, and lets them go: what they say must be what they say
alone, and no stop of theirs may take longer than 300 ms. Run by ./dev attach.

usage: suite.py BUILD [TIMES]
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 50
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
    server = subprocess.Popen(["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
                               "--appendonly", "no"], stdout=subprocess.DEVNULL, cwd=directory)
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
        longest = attach_often("redis-server under load", server, directory)
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
    process = subprocess.Popen(["/usr/bin/python3", "-c", PYTHON], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        process.stdin.write("begin\n")
        time.sleep(0.3)
        longest = attach_often("python3", process, directory)
        process.stdin.write("end\n")
        said = process.communicate(timeout=600)[0]
        if said != "same\n" or process.returncode != 0:
            raise Failure(f"python3 said {said!r} and ended with {process.returncode}")
        return longest
    finally:
        process.kill()
        process.wait()


def threads(directory):
    process = subprocess.Popen([os.path.join(BUILD, "tests", "programs", "attached_to")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        process.stdin.write("threads 8\n")
        process.stdout.readline()
        longest = attach_often("C++ with 8 threads that allocate", process, directory)
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
        sys.exit(f"attach: {failure}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"longest stop of all: {longest:.1f} ms (at most {LONGEST_MS})")
    if longest > LONGEST_MS:
        sys.exit(1)


main()
