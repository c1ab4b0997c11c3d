"""Runs one program of the table, bare or under memprof, and returns everything that it left."""
import dataclasses
import functools
import glob
import http.server
import json
import os
import pwd
import re
import select
import shutil
import signal
import socket
import socketserver
import subprocess
import tempfile
import threading
import time

TIMEOUT = 300  # seconds for one run
NOBODY = pwd.getpwnam("nobody")


class Failure(Exception):
    pass


@dataclasses.dataclass
class Outcome:
    status: int
    stdout: bytes
    stderr: bytes
    client: bytes
    files: dict
    seconds: float

    def difference(self, other):
        """What differs, or an empty text."""
        for what in ("status", "stdout", "stderr", "client"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                return f"{what}: {shown(mine)} instead of {shown(theirs)}"
        for name in sorted(set(self.files) | set(other.files)):
            mine, theirs = self.files.get(name), other.files.get(name)
            if mine != theirs:
                return f"file {name}: {shown(mine)} instead of {shown(theirs)}"
        return ""


@dataclasses.dataclass
class Figures:
    allocations: int
    dropped: int
    capture_bytes: int
    tree_allocations: int = 0  # with those of all child processes


def wait(process, seconds):
    """As process.wait, which with a limit looks every 50 ms only."""
    descriptor = os.pidfd_open(process.pid)
    try:
        if not select.select([descriptor], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired(process.args, seconds)
    finally:
        os.close(descriptor)
    return process.wait()


def shown(value):
    if not isinstance(value, bytes):
        return str(value)
    return repr(value if len(value) < 400 else value[:200] + b" ... " + value[-200:])


class ProgramBench:
    """Runs a program of the table. All runs are in one folder of the same name, made anew each time,
    so that paths in outputs are the same; captures are beside it."""

    def __init__(self, memprof, top):
        self.memprof = memprof
        self.folder = os.path.join(top, "run")
        self.capture = os.path.join(top, "x.memprof")
        self.values = {"{folder}": self.folder, "{port}": str(serve(os.path.join(top, "served"))),
                       "{free_port}": str(free_port())}

    def fill(self, text):
        for name, value in self.values.items():
            text = text.replace(name, value)
        return text

    def environment(self, preload):
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        environment.update(HOME=self.folder, LC_ALL="C", TERM="dumb", TZ="UTC", GIT_CONFIG_NOSYSTEM="1",
                           NO_COLOR="1")
        if preload:
            environment["LD_PRELOAD"] = preload
        return environment

    def empty_folder(self, program):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)
        for old in glob.glob(self.capture[:-len(".memprof")] + "*"):
            os.unlink(old)
        if os.geteuid() == 0 and program.unprivileged:
            os.chown(self.folder, NOBODY.pw_uid, NOBODY.pw_gid)

    def shell(self, program, script, environment):
        return subprocess.run(self.as_user(program) + ["sh", "-c", self.fill(script)], cwd=self.folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)

    def as_user(self, program):
        if os.geteuid() != 0 or not program.unprivileged:
            return []
        return ["setpriv", f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups"]

    def run(self, program, with_memprof, preload=""):
        self.empty_folder(program)
        bare = self.environment("")
        setup = self.shell(program, "set -e\n" + program.setup, bare)
        if setup.returncode != 0:
            raise Failure(f"its setup failed: {setup.stdout.decode(errors='replace')}")
        command = [self.fill(word) for word in program.command]
        if with_memprof:
            command = [self.memprof, "run", "-q", "-f", "-o", self.capture, "--"] + command
        command = self.as_user(program) + command
        start = time.monotonic()
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            given.write(program.stdin)
            given.seek(0)
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment(preload),
                                       stdin=given, stdout=out, stderr=err, start_new_session=True)
            client = b""
            try:
                if program.ready:
                    client = self.serve(program, process, bare)
                status = wait(process, TIMEOUT)
            except subprocess.TimeoutExpired:
                raise Failure(f"it did not end within {TIMEOUT} s") from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # memprof and its program
                    process.wait()
            seconds = time.monotonic() - start
            out.seek(0)
            err.seek(0)
            # A signal's number as `memprof run` gives it.
            status = 128 - status if status < 0 else status
            return Outcome(status, normal(program, out.read()), normal(program, err.read()),
                           normal(program, client), self.files(program), seconds)

    def serve(self, program, process, environment):
        """Waits for the server, has the client speak to it, and stops it. What the client printed."""
        deadline = time.monotonic() + TIMEOUT / 5
        while self.shell(program, program.ready, environment).returncode != 0:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failure("its server was never ready")
            time.sleep(0.05)
        client = self.shell(program, program.client, environment)
        if process.poll() is not None:
            raise Failure(f"its server ended by itself, with {process.returncode}")
        process.send_signal(program.stop)
        return client.stdout + f"client's status {client.returncode}\n".encode()

    def files(self, program):
        found = {}
        for top, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(top, name)
                relative = os.path.relpath(path, self.folder)
                if any(relative == ignored or relative.startswith(ignored + "/")
                       for ignored in program.ignored_files):
                    continue
                if not os.path.isfile(path) or os.path.islink(path):
                    found[relative] = b"no regular file"
                    continue
                with open(path, "rb") as file:
                    found[relative] = normal(program, file.read())
        return found

    def figures(self, program):
        """What the captures say, which must be sound and have the program's counts."""
        if not os.path.exists(self.capture):
            raise Failure("memprof left no capture")
        stats = self.stats(self.capture)
        of_all = self.capture[:-len(".memprof")] + ".all.memprof"
        figures = Figures(allocations=stats["total"]["allocations"], dropped=stats["tracker"]["dropped_events"],
                          capture_bytes=os.path.getsize(self.capture))
        figures.tree_allocations = figures.allocations
        if os.path.exists(of_all):
            figures.tree_allocations = self.stats(of_all)["total"]["allocations"]
        for counted, least, what in (
            (figures.allocations, program.allocates, "allocations in its capture"),
            (stats["mappings"]["total"]["mappings"], program.maps, "mappings in its capture"),
            (figures.tree_allocations, program.tree_allocates, "allocations in the captures of all processes")):
            if counted < least:
                raise Failure(f"{counted} {what}, less than {least}")
        return figures

    def stats(self, capture):
        done = subprocess.run([self.memprof, "stats", "--json", capture], capture_output=True,
                              timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            raise Failure(f"its capture can't be read: {done.stderr.decode(errors='replace')}")
        return json.loads(done.stdout)


def normal(program, text):
    for pattern, replacement in program.normal:
        text = re.sub(pattern.encode(), replacement.encode(), text)
    return text


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *arguments):
        pass


class QuietServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def serve(folder):
    """Numbered files on loopback, for what fetches; ends with this process. The port."""
    os.makedirs(folder)
    for i in range(1, 21):
        with open(os.path.join(folder, str(i)), "w", encoding="ascii") as file:
            file.write(f"{i}\n" * 5000)
    server = QuietServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
