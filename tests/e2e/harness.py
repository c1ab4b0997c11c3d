"""Shared by the end-to-end tests: running memprof, and reading its output.

MEMPROF_BUILD is the build folder (ctest sets it).
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

BUILD = os.environ["MEMPROF_BUILD"]
MEMPROF = os.path.join(BUILD, "bin", "memprof")
PROGRAMS = os.path.join(BUILD, "tests", "programs")
SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
# Debian's, which has its pprof built; a later one elsewhere compiles that anew for each empty HOME.
GO = next((go for go in ("/usr/lib/go/bin/go", "/usr/bin/go") if os.path.exists(go)), None)
os.environ.pop("DEBUGINFOD_URLS", None)  # no server is asked but a test's own
EACH = "--children-files=64"  # leave the captures of single children too
TIMEOUT = 100  # seconds; nothing here takes a tenth of it on an idle machine


def run(command, **options):
    options.setdefault("capture_output", True)
    options.setdefault("timeout", TIMEOUT)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, **options)


def end_process(process):
    """Ends it, stopped or not. memprof run passes SIGTERM on: killed, it would leave its program behind."""
    process.send_signal(signal.SIGCONT)
    process.terminate()
    try:
        process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class UnixConnection(http.client.HTTPConnection):
    """HTTP at a unix socket, as memprof serve --listen unix:PATH answers it."""

    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(self.path)


def connection_to(url):
    """To http://HOST:PORT or unix:PATH."""
    if url.startswith("unix:"):
        return UnixConnection(url[5:])
    return http.client.HTTPConnection(url.removeprefix("http://"), timeout=TIMEOUT)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        self.text = self.body.decode(errors="replace")


def ask(url, path, method="GET", headers=None):
    """The answer to one request."""
    connection = connection_to(url)
    try:
        connection.request(method, path, headers=headers or {})
        return Answer(connection.getresponse())
    finally:
        connection.close()


class MemprofTest(unittest.TestCase):
    """A test with a directory of its own, which is the working directory of what it runs."""

    maxDiff = None

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="memprof-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def bare(self, command, **options):
        return run(command, cwd=self.directory, **options)

    def profile(self, command, flags=(), **options):
        """Runs a command under memprof; the capture is x.memprof."""
        return run([MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), *flags, "--", *command],
                   cwd=self.directory, **options)

    def memprof(self, *arguments, status=0, **options):
        """Another command of memprof, which must give this status; its stdout as text."""
        done = run([MEMPROF, *arguments], cwd=self.directory, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="replace")

    def stats(self, capture="x.memprof"):
        return json.loads(self.memprof("stats", "--json", self.path(capture)))

    def sites(self, capture="x.memprof"):
        return json.loads(self.memprof("transform", "json", self.path(capture)))

    def assert_rows_sum_to_totals(self, profile):
        for unit in ("bytes", "allocations"):
            for figure in ("peak", "leaked", "total", "temporary"):
                self.assertEqual(sum(site[figure][unit] for site in profile["sites"]),
                                 profile[figure][unit], f"{figure} {unit}")
            of_running = [site["leaked"][unit] for site in profile["sites"]
                          if site.get("of_running_threads")]
            self.assertEqual(sum(of_running), profile["leaked_of_running_threads"][unit], unit)
            for table in ("histogram", "kinds"):
                self.assertEqual(sum(row[unit] for row in profile[table]), profile["total"][unit],
                                 f"{table} {unit}")
            for site in profile["sites"]:
                if "histogram" in site:
                    self.assertEqual(sum(row[unit] for row in site["histogram"]),
                                     site["total"][unit], f"histogram of {site}")

    def assert_mappings_sum_to_totals(self, mappings):
        for figure in ("peak", "leaked", "total"):
            for unit in ("bytes", "mappings"):
                for reserved, whole in ((False, mappings), (True, mappings["reserved"])):
                    self.assertEqual(sum(row[figure][unit] for row in mappings["rows"]
                                         if row["reserved"] == reserved), whole[figure][unit],
                                     f"{figure} {unit}, reserved: {reserved}")
