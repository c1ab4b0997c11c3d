"""Programs of Python's world that start processes: their output, and functions in the captures."""
import glob
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request

APPLICATION = """
kept = []
def remember(count):
    kept.append([bytearray(7000) for _ in range(count)])
def application(environ, start_response):
    remember(10)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"answer " + environ["PATH_INFO"].encode()]
"""

TESTS = """
import pytest
def work(n):
    return [bytearray(7000) for _ in range(10)]
@pytest.mark.parametrize("n", range(20))
def test_work(n):
    assert len(work(n)) == 10
"""

KERNEL = """
import sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120)
client.execute("def cell(): return [bytearray(7000) for _ in range(10)]\\nx = cell(); print(len(x))")
while True:
    message = client.get_iopub_msg(timeout=60)
    if message["msg_type"] == "stream":
        print(message["content"]["text"].strip())
        break
client.stop_channels()
manager.shutdown_kernel()
"""


def functions(memprof, folder):
    """The Python functions of blocks of 7001 bytes (and their number) in all captures."""
    found = {}
    names = glob.glob(os.path.join(folder, "*.all.memprof")) or glob.glob(
        os.path.join(folder, "*.memprof"))
    for capture in names:
        done = subprocess.run([memprof, "transform", "json", capture], capture_output=True, check=True)
        for site in json.loads(done.stdout)["sites"]:
            total = site["total"]
            if total["allocations"] and total["bytes"] == 7001 * total["allocations"]:
                name = next((f["function"] for f in site["frames"] if f["kind"] == "python"), "none")
                name = name.replace(".<locals>.<listcomp>", "").replace(".<listcomp>", "")
                found[name] = found.get(name, 0) + total["allocations"]
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def served(command, folder, port):
    """Starts gunicorn, asks it 40 times, stops it; its answers."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5).read()
                    break
                except OSError:
                    time.sleep(0.1)
            answers = [urllib.request.urlopen(f"http://127.0.0.1:{port}/{i}", timeout=30).read()
                       for i in range(40)]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)
    return answers, server.returncode


def gunicorn(python, prefix, folder):
    with open(os.path.join(folder, "service.py"), "w", encoding="utf-8") as file:
        file.write(APPLICATION)
    port = free_port()
    return served([*prefix, python, "-m", "gunicorn", "-w", "2", "-b", f"127.0.0.1:{port}",
                   "service:application"], folder, port)


def pytest(python, prefix, folder):
    with open(os.path.join(folder, "test_work.py"), "w", encoding="utf-8") as file:
        file.write(TESTS)
    done = subprocess.run([*prefix, python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider",
                           "test_work.py"], cwd=folder, capture_output=True, text=True, timeout=600)
    return [line.split(" in ")[0] for line in done.stdout.splitlines() if "passed" in line], done.returncode


def jupyter(python, prefix, folder):
    with open(os.path.join(folder, "kernel.py"), "w", encoding="utf-8") as file:
        file.write(KERNEL)
    done = subprocess.run([*prefix, python, "kernel.py"], cwd=folder, capture_output=True, text=True,
                          timeout=600)
    return done.stdout, done.returncode


PROGRAMS = [("gunicorn -w 2", "gunicorn", gunicorn, "remember", 400),
            ("pytest -n 2", "xdist", pytest, "work", 200),
            ("a Jupyter kernel", "ipykernel", jupyter, "cell", 10)]


def run(memprof, venv, folder):
    python = os.path.join(venv, "bin", "python")
    differences = 0
    for title, module, program, function, least in PROGRAMS:
        has = os.path.exists(python) and subprocess.run([python, "-c", f"import {module}"],
                                                        capture_output=True).returncode == 0
        if not has:
            print(f"{title}: not installed")
            continue
        own = os.path.join(folder, module)
        os.makedirs(own)
        bare = program(python, [], own)
        ours = program(python, [memprof, "run", "-q", "-f", "--wait", "-o",
                                os.path.join(own, "x.memprof"), "--"], own)
        found = functions(memprof, own)
        fine = bare == ours and found.get(function, 0) >= least
        print(f"{title}: " + (f"the same output; {found[function]} blocks at {function}" if fine else
                              f"bare {bare}, under memprof {ours}, blocks at {found}"), flush=True)
        differences += not fine
    return differences
