#!/usr/bin/python3
"""memprof serve and memprof run --serve: a program's figures over HTTP, as scrapers, browsers, other
memprofs and strangers ask for them."""
import base64
import concurrent.futures
import gzip
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

import harness
import pprof_model

PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void* volatile kept[200];
static volatile sig_atomic_t more;

__attribute__((noinline)) static void grow(int n) { kept[n] = malloc(1000); }
__attribute__((noinline)) static void churn(void) {
  void* volatile block = malloc(64);
  free(block);
}
static void ask(int signal) { (void)signal; more = 1; }

int main(int argc, char** argv) {
  int made = 0;
  signal(SIGUSR1, ask);
  void* volatile held = malloc(5000000);
  if (argc > 1 && fork() == 0) argc = 0;
  for (; made < 50; ++made) grow(made);
  puts("ready");
  fflush(stdout);
  for (;;) {
    churn();
    usleep(10000);
    if (more && made < 150) grow(made++);
    if (argc == 0 && getppid() == 1) return 0;
  }
  free(held);
  return 0;
}
"""
WAIT = 60  # seconds
TOKEN = "correct-horse-battery-staple"
GO_TYPES = [("alloc_objects", "count"), ("alloc_space", "bytes"),
            ("inuse_objects", "count"), ("inuse_space", "bytes")]
NODE = shutil.which("node") or shutil.which("nodejs")


class ServeTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        with open(self.path("service.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        harness.run(["gcc", "-g", "-O1", self.path("service.c"), "-o", self.path("service")], check=True)

    def popen(self, *command, **options):
        process = subprocess.Popen(command, cwd=self.directory, **options)
        for stream in (process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        self.addCleanup(harness.end_process, process)
        return process

    def start(self, *flags, arguments=(), name="x.memprof", **options):
        """The service under memprof, when it has grown."""
        run = self.popen(harness.MEMPROF, "run", "-q", "-f", "-o", self.path(name), *flags, "--",
                         self.path("service"), *arguments, stdout=subprocess.PIPE, **options)
        for _ in range(1 + len(arguments)):
            self.assertEqual(run.stdout.readline(), b"ready\n")
        return run

    def serve(self, *targets, listen="127.0.0.1:0", flags=(), **options):
        """A server; its address."""
        self.server = self.popen(harness.MEMPROF, "serve", *targets, "--listen", listen, *flags,
                                 stdout=subprocess.PIPE, **options)
        url = self.server.stdout.readline().decode().strip()
        self.assertRegex(url, r"^(http://|unix:)")
        return url

    def get(self, url, path, method="GET", status=200, **headers):
        answer = harness.ask(url, path, method, {k.replace("_", "-"): v for k, v in headers.items()})
        self.assertEqual(answer.status, status, answer.text[:300])
        return answer

    def pprof(self, url, path="/debug/pprof/heap"):
        file = self.path("heap.pb.gz")
        with open(file, "wb") as out:
            out.write(self.get(url, path).body)
        return pprof_model.Profile(file)

    def pid(self, name="x.memprof"):
        runs = json.loads(self.memprof("list", "--json"))["runs"]
        return next(run["pid"] for run in runs if run["capture"] == self.path(name))

    def raw(self, url, text):
        """What the server answers to these bytes, until it closes."""
        host, port = url.removeprefix("http://").rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=WAIT) as peer:
            peer.sendall(text)
            answer = b""
            while chunk := peer.recv(65536):
                answer += chunk
        return answer

    # Figures.

    def test_the_heap_profile_is_a_go_programs(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        heap = self.pprof(url)
        self.assertEqual(heap.types, GO_TYPES)
        self.assertEqual(heap.default_type, "inuse_space")
        self.assertEqual(self.pprof(url, "/debug/pprof/allocs?gc=1").default_type, "alloc_space")
        live = [sum(values[i] for _, values, _ in heap.samples) for i in (2, 3)]
        # What libc keeps for stdout is live too.
        with open(self.path("live.memprof"), "wb") as file:
            file.write(self.get(url, "/capture").body)
        stats = self.stats("live.memprof")
        self.assertEqual(live, [stats["leaked"]["allocations"], stats["leaked"]["bytes"]])
        by_function = {}
        for stack, values, labels in heap.samples:
            self.assertEqual(labels, {})
            by_function[stack[0][0]] = by_function.get(stack[0][0], 0) + values[3]
        self.assertEqual(by_function["grow"], 50000)
        self.assertEqual(by_function["churn"], 0)
        grow = next(stack for stack, _, _ in heap.samples if stack[0][0] == "grow")
        self.assertEqual(grow[0][1:], (self.path("service.c"), 10))
        self.assertEqual({key for _, _, labels in
                          self.pprof(url, "/debug/pprof/heap?threads=1").samples for key in labels},
                         {"thread"})
        with gzip.open(self.path("heap.pb.gz")) as file:
            self.assertIn(self.path("service").encode(), file.read())

    def test_a_difference_has_only_what_came_in_these_seconds(self):
        run = self.start()
        url = self.serve(self.path("x.memprof"))
        os.kill(self.pid(), 0)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = pool.submit(self.get, url, "/debug/pprof/heap?seconds=4")
            time.sleep(2)  # the first look comes well before, and the second after
            os.kill(self.pid(), signal.SIGUSR1)
            body = asked.result().body
        with open(self.path("delta.pb.gz"), "wb") as file:
            file.write(body)
        delta = pprof_model.Profile(self.path("delta.pb.gz"))
        self.assertEqual(delta.types, GO_TYPES)
        live = {stack[0][0]: values[3] for stack, values, _ in delta.samples}
        self.assertGreater(live["grow"], 0)
        self.assertEqual(live["grow"] % 1000, 0)
        self.assertNotIn("main", live)
        for wrong in ("301", "-1", "x", ""):
            self.get(url, f"/debug/pprof/heap?seconds={wrong}", status=400)
        self.assertIsNone(run.poll())

    def test_the_text_is_gos_too(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        text = self.get(url, "/debug/pprof/heap?debug=1").text
        self.assertRegex(text, r"^heap profile: \d+: \d+ \[\d+: \d+\] @ heap/1\n")
        self.assertRegex(text, r"\n50: 50000 \[50: 50000\] @ 0x[0-9a-f]+ ")
        self.assertRegex(text, r"#\t0x[0-9a-f]+\tgrow\t\t.*service\.c:10\n")

    def test_go_reads_it_over_http(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        self.assertIsNotNone(harness.GO)

        def go(*arguments):
            done = harness.run([harness.GO, "tool", "pprof", "-top", "-unit=B", "-nodefraction=0",
                                *arguments],
                               env=dict(os.environ, HOME=self.directory, PPROF_TMPDIR=self.directory))
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            return done.stdout.decode()

        heap = f"{url}/debug/pprof/heap"
        top = go("-sample_index=inuse_space", heap)
        with open(self.path("live.memprof"), "wb") as file:
            file.write(self.get(url, "/capture").body)
        leaked = self.stats("live.memprof")["leaked"]["bytes"]
        self.assertRegex(top, rf"100% of {leaked}B total")
        self.assertRegex(top, r"50000B .* grow")
        self.assertIn("churn", go("-sample_index=alloc_space", heap))
        with open(self.path("base.pb.gz"), "wb") as file:
            file.write(self.get(url, "/debug/pprof/heap").body)
        os.kill(self.pid(), signal.SIGUSR1)
        time.sleep(1.5)
        difference = go("-sample_index=inuse_space", f"-diff_base={self.path('base.pb.gz')}", heap)
        self.assertRegex(difference, r"\n +\d+B .* grow")
        self.assertNotRegex(difference, r"50000B")

    def test_metrics_are_prometheus_text_of_each_process(self):
        self.start(arguments=("fork",))
        url = self.serve(self.path("x.memprof"))
        end = time.monotonic() + WAIT
        while True:
            answer = self.get(url, "/metrics")
            lines = [line for line in answer.text.splitlines() if line.startswith("memprof_heap_live_bytes{")]
            if len(lines) == 2:
                break
            self.assertLess(time.monotonic(), end, answer.text)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(answer.text.count("# TYPE memprof_heap_live_bytes "), 1)
        self.assertIn(f'pid="{self.pid()}"', answer.text)
        self.assertRegex(answer.text, r'memprof_resident_bytes\{[^}]*\} [1-9]')
        promtool = shutil.which("promtool") or os.path.join(
            os.path.dirname(os.path.dirname(harness.BUILD)), "build", "tools", "usr", "bin", "promtool")
        if os.path.exists(promtool):
            done = harness.run([promtool, "check", "metrics"], input=answer.body, stdin=None)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_processes_are_summed_and_can_be_asked_apart(self):
        self.start(arguments=("fork",))
        url = self.serve(self.path("x.memprof"))
        end = time.monotonic() + WAIT
        while True:
            heap = self.pprof(url)
            grown = sum(values[3] for stack, values, _ in heap.samples if stack[0][0] == "grow")
            if grown == 100000:
                break
            self.assertLess(time.monotonic(), end, grown)
            time.sleep(0.2)
        live = json.loads(self.get(url, "/live").text)
        self.assertEqual(len(live["processes"]), 2)
        child = live["processes"][1]["pid"]
        alone = self.pprof(url, f"/debug/pprof/heap?process={child}")
        self.assertEqual(sum(values[3] for stack, values, _ in alone.samples if stack[0][0] == "grow"),
                         50000)
        with open(self.path("tree.memprof"), "wb") as file:
            file.write(self.get(url, "/capture").body)
        self.assertEqual(len(self.sites("tree.memprof")["sources"]), 2)
        self.get(url, "/debug/pprof/heap?process=1", status=503)
        self.get(url, "/metrics?process=x", status=400)

    # A run and its server.

    def test_run_serves_itself_and_list_says_where(self):
        run = self.start("--serve", "127.0.0.1:0")
        end = time.monotonic() + WAIT
        while True:
            mine = [each for each in json.loads(self.memprof("list", "--json"))["runs"]
                    if each["supervisor"] == run.pid]
            if mine and mine[0]["address"]:
                break
            self.assertLess(time.monotonic(), end, mine)
            time.sleep(0.1)
        url = mine[0]["address"]
        self.assertIn(url, self.memprof("list", env={**os.environ, "COLUMNS": "250"}))
        self.assertEqual(self.get(url, "/healthz").text, "ok\n")
        self.assertEqual(self.pprof(url).types, GO_TYPES)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(WAIT), 128 + signal.SIGTERM)
        end = time.monotonic() + WAIT
        while True:
            try:
                self.get(url, "/healthz")
            except OSError:
                break
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertGreater(self.stats()["total"]["allocations"], 50)

    def test_a_server_that_dies_changes_nothing_for_the_run(self):
        run = self.start("--serve", f"unix:{self.path('sock')}")
        self.assertEqual(os.stat(self.path("sock")).st_mode & 0o777, 0o600)
        self.get(f"unix:{self.path('sock')}", "/healthz")
        servers = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and
                   self.environment(pid).get(b"MEMPROF_SERVE_BESIDE", b"").endswith(
                       self.path("sock").encode())]
        self.assertEqual(len(servers), 1)
        os.kill(servers[0], signal.SIGKILL)
        time.sleep(0.3)
        self.assertIsNone(run.poll())
        self.memprof("snapshot", self.path("x.memprof"), "--name", "later")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(WAIT), 128 + signal.SIGTERM)
        self.assertGreater(self.stats()["total"]["allocations"], 50)

    @staticmethod
    def environment(pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
        except OSError:
            return {}

    def test_a_restart_under_the_same_address_goes_on(self):
        first = self.start()
        url = self.serve(self.path("x.memprof"))
        pids = {json.loads(self.get(url, "/live").text)["pid"]}
        first.send_signal(signal.SIGTERM)
        first.wait(WAIT)
        end = time.monotonic() + WAIT
        while not json.loads(self.get(url, "/live").text)["ended"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        # The last figures stay.
        self.assertEqual(sum(values[3] for stack, values, _ in self.pprof(url).samples
                             if stack[0][0] == "grow"), 50000)
        self.assertIn("memprof_running{", self.get(url, "/metrics").text)
        self.start()
        while (live := json.loads(self.get(url, "/live").text))["pid"] in pids or live["ended"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        # run --serve takes its address again at once.
        port = self.free_port()
        for name in ("a.memprof", "b.memprof"):
            run = self.start("--serve", f"127.0.0.1:{port}", name=name)
            self.get(f"http://127.0.0.1:{port}", "/healthz")
            run.send_signal(signal.SIGTERM)
            run.wait(WAIT)
            while self.is_open(port):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)

    @staticmethod
    def free_port():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    @staticmethod
    def is_open(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def test_snapshots_are_taken_and_listed(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        self.assertEqual(json.loads(self.get(url, "/snapshots").text)["runs"][0]["snapshots"], [])
        self.assertIn("warm", self.get(url, "/snapshots?name=warm", method="POST").text)
        listed = json.loads(self.get(url, "/snapshots").text)["runs"][0]
        self.assertEqual([each["name"] for each in listed["snapshots"]], ["warm"])
        for wrong in ("a/b", "peak", "10s"):
            self.get(url, f"/snapshots?name={wrong}", method="POST", status=400)

    def test_top_looks_over_http_as_it_does_here(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        here = json.loads(self.memprof("top", "--once", "--json", "-d", "0.3", self.path("x.memprof")))
        there = json.loads(self.memprof("top", "--once", "--json", "-d", "0.3", url))
        self.assertEqual(there["live"], here["live"])
        self.assertEqual(there["program"], "service")
        rows = {row["name"]: row for row in there["rows"]}
        self.assertEqual(rows["grow"]["live"], {"bytes": 50000, "allocations": 50})
        self.assertEqual(rows["grow"]["place"], "service.c:10")
        done = harness.run([harness.MEMPROF, "top", "--once", f"http://127.0.0.1:{self.free_port()}"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("does memprof serve", done.stderr.decode())
        for wrong in ("https://localhost:1", "http://", "http://a/b", "http://a:1?run=x"):
            self.assertEqual(harness.run([harness.MEMPROF, "top", "--once", wrong]).returncode, 2)

    # Who may ask.

    def test_hosts_and_origins_of_others_are_refused(self):
        self.start()
        url = self.serve(self.path("x.memprof"), flags=("--host", "Tunnel.example"))
        port = url.rsplit(":", 1)[1]
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "a b"):
            self.assertIn(self.status(url, f"Host: {host}"), (400, 421), host)
        for host in (f"127.0.0.1:{port}", "localhost", "localhost:1", "[::1]:80", "tunnel.example"):
            self.assertEqual(self.status(url, f"Host: {host}"), 200, host)
        self.assertEqual(self.status(url, "Host: localhost\r\nHost: localhost"), 400)
        self.assertEqual(self.status(url, "X: y"), 400)
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1:1"):
            self.get(url, "/metrics", status=403, Origin=origin)
            self.get(url, "/snapshots", method="POST", status=403, Origin=origin)
        self.get(url, "/metrics", Origin=url)
        self.get(url, "/metrics", status=403, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")

    def status(self, url, headers, path="/healthz"):
        answer = self.raw(url, f"GET {path} HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n".encode())
        return int(answer.split(b" ", 2)[1])

    def test_a_token_is_needed_where_one_is_set(self):
        self.start()
        with open(self.path("token"), "w", encoding="utf-8") as file:
            file.write(TOKEN + "\n")
        os.chmod(self.path("token"), 0o600)
        url = self.serve(self.path("x.memprof"), flags=("--token-file", self.path("token")))
        refused = self.get(url, "/metrics", status=401)
        self.assertIn("Basic", refused.headers["WWW-Authenticate"])
        basic = lambda text: "Basic " + base64.b64encode(text.encode()).decode()
        for right in (f"Bearer {TOKEN}", f"bearer {TOKEN}", basic(f"any:{TOKEN}")):
            self.get(url, "/metrics", Authorization=right)
        for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer", TOKEN, basic(TOKEN),
                      basic("any:x"), "Basic !!", f"Digest {TOKEN}", "Bearer " + "x" * 5000):
            self.get(url, "/healthz", status=401, Authorization=wrong)
        environment = {**os.environ, "MEMPROF_SERVE_TOKEN": TOKEN}
        self.memprof("top", "--once", "--json", "-d", "0.2", url, env=environment)
        done = harness.run([harness.MEMPROF, "top", "--once", url])
        self.assertIn("MEMPROF_SERVE_TOKEN has it", done.stderr.decode())
        # The program doesn't learn it, nor is it in a command line.
        run = self.start("--serve", f"unix:{self.path('sock')}", name="y.memprof", env=environment)
        self.get(f"unix:{self.path('sock')}", "/healthz", status=401)
        self.assertNotIn(b"MEMPROF_SERVE_TOKEN", self.environment(self.pid("y.memprof")))
        self.assertIsNone(run.poll())

    def test_what_would_be_open_to_others_is_refused(self):
        self.start()
        target = self.path("x.memprof")
        for arguments, why in (
                ((), "--listen is missing"),
                (("--listen", "0.0.0.0:0"), "--allow-remote"),
                (("--listen", "0.0.0.0:0", "--allow-remote"), "needs a token"),
                (("--listen", "[::]:0"), "--allow-remote"),
                (("--listen", "127.0.0.1"), "no address to listen on"),
                (("--listen", "example.com:80"), "in digits"),
                (("--listen", "127.0.0.1:70000"), "no address to listen on"),
                (("--listen", "unix:relative"), "absolute path"),
                (("--listen", f"unix:{self.path('service')}"), "there is a file"),
                (("--listen", "127.0.0.1:0", "--token-file", self.path("none")), "No such file")):
            done = harness.run([harness.MEMPROF, "serve", target, *arguments])
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(why, done.stderr.decode())
            self.assertEqual(len(done.stderr.decode().splitlines()), 1)
        for text, mode, why in (("short", 0o600, "a token has 16"), (TOKEN, 0o644, "others may read")):
            with open(self.path("token"), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(self.path("token"), mode)
            done = harness.run([harness.MEMPROF, "serve", target, "--listen", "127.0.0.1:0",
                                "--token-file", self.path("token")])
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr.decode())
        done = harness.run([harness.MEMPROF, "run", "--serve", "nowhere", "true"])
        self.assertEqual(done.returncode, 125)
        self.assertIn("--serve 'nowhere'", done.stderr.decode())
        done = harness.run([harness.MEMPROF, "run", "--allow-remote", "true"])
        self.assertIn("--allow-remote requires --serve", done.stderr.decode())

    # What a server survives.

    def test_silent_and_slow_clients_hold_up_nobody(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        host, port = url.removeprefix("http://").rsplit(":", 1)
        peers = [socket.create_connection((host, int(port))) for _ in range(100)]
        for peer in peers:
            self.addCleanup(peer.close)
        for peer in peers[80:]:
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")  # and no more
        # Those that ask for much and read nothing.
        greedy = []
        for _ in range(5):
            peer = socket.socket()
            self.addCleanup(peer.close)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            peer.connect((host, int(port)))
            peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
            greedy.append(peer)
        for _ in range(20):
            begin = time.monotonic()
            self.get(url, "/healthz")
            self.assertLess(time.monotonic() - begin, 8)

    def test_requests_are_bounded(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        for request in (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                        head + b"X: " + b"y" * 20000 + b"\r\n\r\n",
                        head + b"X: y\r\n" * 5000 + b"\r\n"):
            answer = self.raw_until_reset(url, request)
            self.assertNotIn(b" 200 ", answer[:20])
        for more in (b"Content-Length: 5\r\n\r\nhello", b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello",
                     b"Content-Length: 99999999999\r\n\r\n"):
            answer = self.raw_until_reset(url, b"POST /snapshots HTTP/1.1\r\nHost: localhost\r\n" + more)
            self.assertRegex(answer[:20], b" 4(13|00) ")
        for garbage in (b"\0" * 500 + b"\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n", b"GET\r\n\r\n",
                        b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            self.assertNotIn(b" 200 ", self.raw_until_reset(url, garbage)[:20])
        self.get(url, "/nothing", status=404)
        self.get(url, "/healthz", method="DELETE", status=405)
        self.assertEqual(self.get(url, "/metrics", method="HEAD").body, b"")
        whole = self.get(url, "/debug/pprof/", Range="bytes=0-3,0-3,0-3,0-3").text
        self.assertIn("/metrics", whole)
        self.get(url, "/healthz")

    def test_a_body_is_never_taken_for_a_request(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        hidden = b"POST /snapshots?name=hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
        length = f"Host: evil.example\r\nContent-Length: {len(hidden)}\r\n\r\n".encode()
        for head in (b"POST /?" + b"a" * 9000 + b" HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nX: " + b"y" * 9000 + b"\r\n",
                     b"POST / HTTP/1.1\r\nX: \0\r\n", b"POST / HTTP/1.1\r\nX: a\nb\r\n"):
            answer = self.raw_until_reset(url, head + length + hidden)
            self.assertEqual(answer.count(b"HTTP/1.1 "), 1, answer)
            self.assertRegex(answer[:20], b" 4\\d\\d ")
        self.assertNotIn("hidden", self.get(url, "/snapshots").text)

    def test_an_empty_name_is_no_missing_one(self):
        self.start()
        for status, *command in ((2, "serve", self.path("x.memprof"), "--listen", "127.0.0.1:0", "--token-file", ""),
                                 (2, "serve", self.path("x.memprof"), "--listen", ""),
                                 (125, "run", "--serve", "", "--", "/bin/true"),
                                 (125, "run", "--budget", "", "--", "/bin/true")):
            done = harness.run([harness.MEMPROF, *command])
            self.assertEqual(done.returncode, status, command)
            self.assertIn(b"empty", done.stderr)

    def raw_until_reset(self, url, request):
        host, port = url.removeprefix("http://").rsplit(":", 1)
        answer = b""
        with socket.create_connection((host, int(port)), timeout=WAIT) as peer:
            try:
                peer.sendall(request)
                peer.shutdown(socket.SHUT_WR)
                while chunk := peer.recv(65536):
                    answer += chunk
            except ConnectionError:
                pass
        return answer

    def test_a_connection_answers_many_requests(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        connection = harness.connection_to(url)
        self.addCleanup(connection.close)
        for _ in range(200):
            connection.request("GET", "/healthz")
            self.assertEqual(connection.getresponse().read(), b"ok\n")

    def test_a_server_ends_at_once_whoever_waits(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            def wait_for(path):
                try:
                    self.get(url, path)
                except (OSError, AssertionError, http.client.HTTPException):
                    pass
            waiting = [pool.submit(wait_for, "/debug/pprof/heap?seconds=200"),
                       pool.submit(wait_for, "/events")]
            time.sleep(0.5)
            self.server.terminate()
            self.assertEqual(self.server.wait(WAIT), 0)
            for each in waiting:
                each.result(WAIT)

    def test_scrapes_change_nothing_for_the_program(self):
        # The same bytes by a program that allocates, bare and with a scrape after the other.
        # It goes on until there were scrapes enough.
        enough = self.path("enough")
        script = "import json,hashlib,os,sys,time\nh=hashlib.sha256()\nfor i in range(3000):\n" \
                 "  h.update(json.dumps({'a':[i]*200,'b':str(i)*50}).encode())\n" \
                 "end=time.monotonic()+60\n" \
                 "while not os.path.exists(sys.argv[1]) and time.monotonic()<end: json.dumps([1]*200)\n" \
                 "print(h.hexdigest())"
        bare = self.bare(["/usr/bin/python3", "-c", script, self.directory]).stdout
        run = self.popen(harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--serve",
                         f"unix:{self.path('sock')}", "--", "/usr/bin/python3", "-c", script, enough,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        scrapes = 0
        while run.poll() is None:
            try:
                connection = harness.connection_to("unix:" + self.path("sock"))
                connection.request("GET", ("/debug/pprof/heap", "/metrics")[scrapes % 2])
                connection.getresponse().read()
                connection.close()
                scrapes += 1
                if scrapes == 10:
                    with open(enough, "w", encoding="utf-8"):
                        pass
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
        out, errors = run.communicate(timeout=WAIT)
        self.assertGreaterEqual(scrapes, 10)
        self.assertEqual(hashlib.sha256(out).hexdigest(), hashlib.sha256(bare).hexdigest())
        self.assertEqual((run.returncode, errors), (0, b""))

    # The page.

    def test_events_tell_of_looks(self):
        self.start()
        url = self.serve(self.path("x.memprof"))
        connection = harness.connection_to(url)
        self.addCleanup(connection.close)
        connection.request("GET", "/events")
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        looks = []
        while len(looks) < 3:
            line = response.readline().decode()
            if line.startswith("data: "):
                looks.append(json.loads(line[6:])["look"])
        self.assertEqual(sorted(set(looks)), looks)

    def test_chromium_uses_the_live_page(self):
        modules = os.path.join(harness.BUILD, "cli", "web", "page", "node_modules")
        if not os.path.exists("/usr/bin/chromium") or NODE is None:
            self.skipTest("there is no Chromium")
        run = self.start()
        url = self.serve(self.path("x.memprof"))
        here = os.path.dirname(os.path.abspath(__file__))
        page = self.popen(NODE, os.path.join(here, "use_live_page.mjs"), modules, url,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        acts = {"grow": lambda: os.kill(self.pid(), signal.SIGUSR1), "end": lambda: run.terminate(),
                "restart": self.start, "stop": lambda: self.server.terminate()}
        for line in page.stdout:
            word = line.decode().strip()
            if word in acts:
                acts[word]()
                page.stdin.write(b"done\n")
                page.stdin.flush()
        page.stdin.close()
        self.assertEqual(page.wait(WAIT), 0)


if __name__ == "__main__":
    unittest.main()
