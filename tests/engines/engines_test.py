#!/usr/bin/python3
"""Systems that scrape programs, on a program that memprof serves: each runs here on loopback for a while
and is then asked, by its own API, for the function with the most bytes. ./dev engines builds them.

MEMPROF_ENGINES is the folder with prometheus and parca; what isn't there is skipped."""
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness
import pprof_model

ENGINES = os.environ["MEMPROF_ENGINES"]
SECONDS = 60  # of scraping
WAIT = 60
PROGRAM = r"""
#include <stdlib.h>
#include <unistd.h>
static void* volatile kept[100000];
static int made;
__attribute__((noinline)) static void grow(void) { kept[made++] = malloc(10000); }
__attribute__((noinline)) static void* hold(void) { return malloc(50000000); }
int main(void) {
  void* volatile held = hold();
  for (int i = 0; i < 20000; ++i) { grow(); usleep(20000); }
  free(held);
  return 0;
}
"""


def varint(value):
    out = b""
    while value > 0x7f:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class EnginesTest(harness.MemprofTest):
    def popen(self, *command, **options):
        log = open(self.path(os.path.basename(command[0]) + ".log"), "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen(command, cwd=self.directory, stdout=options.pop("stdout", log),
                                   stderr=log, **options)
        self.addCleanup(harness.end_process, process)
        return process

    def start(self):
        """The address at which a program is served."""
        with open(self.path("grows.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        harness.run(["gcc", "-g", "-O1", self.path("grows.c"), "-o", self.path("grows")], check=True)
        self.popen(harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--serve",
                   "127.0.0.1:0", "--", self.path("grows"))
        end = time.monotonic() + WAIT
        while True:
            runs = json.loads(self.memprof("list", "--json"))["runs"]
            mine = [run for run in runs if run["capture"] == self.path("x.memprof") and run["address"]]
            if mine:
                return mine[0]["address"]
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def engine(self, name):
        path = os.path.join(ENGINES, name)
        if not os.path.exists(path):
            self.skipTest(f"{name} could not be had")
        return path

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    @staticmethod
    def free_port():
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_prometheus_knows_the_heap(self):
        prometheus = self.engine("prometheus")
        url = self.start()
        config = self.write("prometheus.yml", f"""
scrape_configs:
  - job_name: memprof
    scrape_interval: 1s
    static_configs:
      - targets: ['{url.removeprefix("http://")}']
""")
        port = self.free_port()
        self.popen(prometheus, f"--config.file={config}", f"--storage.tsdb.path={self.path('data')}",
                   f"--web.listen-address=127.0.0.1:{port}")

        def ask(query):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query="
                                        + urllib.parse.quote(query), timeout=WAIT) as answer:
                return json.load(answer)["data"]["result"]
        end = time.monotonic() + 3 * WAIT
        while True:
            try:
                found = ask("memprof_heap_live_bytes")
                rate = ask("rate(memprof_allocations_total[10s])")
                if found and rate and float(rate[0]["value"][1]) > 0:
                    break
            except OSError:
                pass
            self.assertLess(time.monotonic(), end)
            time.sleep(0.5)
        self.assertGreater(float(found[0]["value"][1]), 50000000)
        self.assertEqual(found[0]["metric"]["program"], "grows")
        self.assertEqual(ask("up")[0]["value"][1], "1")

    def test_parca_knows_the_function_with_the_most_bytes(self):
        parca = self.engine("parca")
        url = self.start()
        config = self.write("parca.yaml", f"""
object_storage:
  bucket:
    type: FILESYSTEM
    config:
      directory: {self.path("data")}
scrape_configs:
  - job_name: memprof
    scrape_interval: 5s
    scrape_timeout: 10s
    static_configs:
      - targets: ['{url.removeprefix("http://")}']
    profiling_config:
      pprof_config:
        memory: {{enabled: true, path: /debug/pprof/heap}}
        block: {{enabled: false}}
        goroutine: {{enabled: false}}
        mutex: {{enabled: false}}
        process_cpu: {{enabled: false}}
""")
        port = self.free_port()
        begin = int(time.time())
        self.popen(parca, "--config-path", config, f"--http-address=127.0.0.1:{port}")
        time.sleep(SECONDS)

        def ask(method, request):
            """By gRPC for the web, in its one message."""
            frame = b"\0" + len(request).to_bytes(4, "big") + request
            asked = urllib.request.Request(
                f"http://127.0.0.1:{port}/api/parca.query.v1alpha1.QueryService/{method}", frame,
                {"Content-Type": "application/grpc-web+proto", "X-Grpc-Web": "1"})
            with urllib.request.urlopen(asked, timeout=WAIT) as answer:
                body = answer.read()
            self.assertEqual(body[:1], b"\0", body)
            return dict(pprof_model.fields(body[5:5 + int.from_bytes(body[1:5], "big")]))

        query = "memory:inuse_space:bytes:space:bytes{}".encode()
        merge = message(1, query) + message(2, number(1, begin)) + message(3, number(1, begin + 3600))
        answer = ask("Query", number(1, 2) + message(3, merge) + number(5, 1))
        with open(self.path("merged.pb.gz"), "wb") as file:
            file.write(answer[6])
        top = harness.run([harness.GO, "tool", "pprof", "-top", "-unit=B", "-nodefraction=0",
                           self.path("merged.pb.gz")],
                          env=dict(os.environ, HOME=self.directory, PPROF_TMPDIR=self.directory))
        rows = [line.split() for line in top.stdout.decode().splitlines() if line.endswith(("hold", "grow"))]
        print(rows)
        # The sum of all scrapes.
        self.assertEqual([row[-1] for row in rows], ["hold", "grow"])
        self.assertEqual(int(rows[0][0].removesuffix("B")) % 50000000, 0)

    def test_redis_serves_as_without_beside_ten_viewers_and_a_scrape_a_second(self):
        def load(flags, viewers):
            port = self.free_port()
            server = self.popen(harness.MEMPROF, "run", "-q", "-f", "-o", self.path("r.memprof"), *flags,
                                "--", "redis-server", "--port", str(port), "--save", "",
                                "--bind", "127.0.0.1")
            end = time.monotonic() + WAIT
            while harness.run(["redis-cli", "-p", str(port), "ping"]).stdout != b"PONG\n":
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
            for _ in range(viewers):
                self.popen(harness.MEMPROF, "top", "--json", self.path("r.memprof"),
                           stdout=subprocess.DEVNULL)
            over, scrapes = threading.Event(), []
            address = flags[1] if flags else ""

            def scrape():
                while not over.wait(1):
                    with urllib.request.urlopen(f"http://{address}/debug/pprof/heap", timeout=WAIT) as got:
                        scrapes.append(len(got.read()))
            thread = threading.Thread(target=scrape)
            if flags:
                thread.start()
            done = harness.run(["redis-benchmark", "-p", str(port), "-n", "200000", "-t", "set,get", "-q",
                                "--csv", "-r", "100000"])
            over.set()
            if flags:
                thread.join()
            rates = [float(line.split(",")[1].strip('"')) for line in done.stdout.decode().splitlines()[1:]]
            keys = harness.run(["redis-cli", "-p", str(port), "dbsize"]).stdout
            harness.run(["redis-cli", "-p", str(port), "shutdown", "nosave"])
            self.assertEqual(server.wait(WAIT), 0)
            return statistics.harmonic_mean(rates), int(keys), scrapes
        pairs = []
        for _ in range(3):
            alone, keys, _ = load((), 0)
            watched, same_keys, scrapes = load(("--serve", f"127.0.0.1:{self.free_port()}"), 10)
            # Keys are random: of 100,000, nearly all.
            self.assertAlmostEqual(keys, same_keys, delta=keys / 50)
            self.assertGreater(len(scrapes), 0)
            pairs.append(watched / alone)
        print(f"requests a second beside ten viewers and a scrape a second, as parts of those without: "
              f"{', '.join(f'{each:.2f}' for each in sorted(pairs))}")


if __name__ == "__main__":
    unittest.main()
