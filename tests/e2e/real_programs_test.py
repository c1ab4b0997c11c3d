#!/usr/bin/python3
"""Real programs behave the same with and without memprof, and their captures are right."""
import os
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

import harness


class RealProgramsTest(harness.MemprofTest):
    def same(self, command, least_allocations=10, **options):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        bare = self.bare(command, **options)
        profiled = self.profile(command, **options)
        self.assertEqual((profiled.returncode, profiled.stdout, profiled.stderr),
                         (bare.returncode, bare.stdout, bare.stderr))
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        self.assertGreaterEqual(profile["total"]["allocations"], least_allocations)
        tracker = profile["tracker"]
        self.assertEqual(tracker["dropped_events"], 0)
        self.assertEqual(tracker["peak_bound_bytes"], 0)
        self.assertEqual(tracker["counter_peak_bytes"], profile["peak"]["bytes"])
        return profile

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_sqlite3(self):
        script = self.write("q.sql", "create table t(a integer primary key, b text);\n" + "".join(
            f"insert into t values({i}, 'row {i * 7919 % 10007}');\n" for i in range(3000)) +
            "select count(*), max(b) from t; select sum(length(b)) from t group by a % 3;\n")
        self.same(["sqlite3", ":memory:", f".read {script}"], 10000)

    def test_xmllint(self):
        file = self.write("x.xml", "<r>" + "".join(f"<i id='{i}'>n{i}</i>" for i in range(5000)) +
                          "</r>")
        self.same(["xmllint", "--xpath", "count(//i)", file], 1000)

    def test_python3(self):
        self.same(["/usr/bin/python3", "-c",
                   "import json; d = [{'i': i, 's': str(i)} for i in range(5000)];"
                   "print(len(json.dumps(d)), len(json.loads(json.dumps(d))))"], 1000)

    def test_a_library_whose_program_headers_were_moved(self):
        # As BOLT and patchelf do. Where such a file has them, its mapping may have a hole.
        with open(os.path.join(harness.PROGRAMS, "libplugin_with_hole.so"), "rb") as file:
            library = bytearray(file.read())
        at, = struct.unpack_from("<Q", library, 32)
        size = 56 * struct.unpack_from("<H", library, 56)[0]
        headers = library[at:at + size]
        library[at:at + size] = bytes(size)
        hole = (1 << 20) + 4096
        library += bytes(max(0, hole - len(library)) + -len(library) % 8)
        struct.pack_into("<Q", library, 32, len(library))
        with open(self.path("moved.so"), "wb") as file:
            file.write(library + headers)
        profile = self.same(["/usr/bin/python3", "-S", "-c",
                             "import ctypes; ctypes.CDLL('./moved.so').plugin_one_leaks()"])
        self.assertEqual(profile["tracker"]["incomplete_stacks"], 0)

    def test_perl(self):
        self.same(["perl", "-e", "my %h; $h{$_ % 977} .= $_ for 1..20000;"
                                 "print join(',', map {length} @h{sort keys %h}), qq(\\n);"], 1000)

    def test_git(self):
        environment = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", HOME=self.directory,
                           GIT_AUTHOR_DATE="2020-01-01T00:00:00Z",
                           GIT_COMMITTER_DATE="2020-01-01T00:00:00Z")
        repository = self.path("r")
        for command in (["git", "init", "-q", repository],
                        ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b",
                         "commit", "-q", "--allow-empty", "-m", "one"]):
            self.assertEqual(harness.run(command, env=environment).returncode, 0)
        self.same(["git", "-C", repository, "log", "--stat"], env=environment)

    def test_bash(self):
        self.same(["bash", "-c", "for i in {1..200}; do x=$x$i; done; echo ${#x}; (echo sub); ls /"],
                  100)

    def test_gcc_compiles_the_same_object(self):
        self.write("c.cc", "#include <vector>\n#include <string>\n"
                           "std::vector<std::string> f(int n) { return {std::to_string(n)}; }\n")
        compiler = harness.run(["g++", "-print-prog-name=cc1plus"]).stdout.decode().strip()
        if not os.path.exists(compiler):
            self.skipTest("no cc1plus")
        self.same([compiler, "-quiet", "-O1", "-w", "c.cc", "-o", "-"], 1000)

    def redis(self):
        """redis-server under memprof; (the supervisor, redis's socket)."""
        if shutil.which("redis-server") is None:
            self.skipTest("redis-server is not installed")
        socket = self.path("s")
        server = subprocess.Popen(
            [harness.MEMPROF, "run", "-q", "-o", self.path("x.memprof"), "--", "redis-server",
             "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"],
            cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(server.wait)
        # Both: a server that hangs ends by nothing else.
        self.addCleanup(lambda: server.poll() is None and os.killpg(server.pid, signal.SIGKILL))
        deadline = time.monotonic() + harness.TIMEOUT
        while not os.path.exists(socket) and time.monotonic() < deadline:
            time.sleep(0.05)
        return server, socket

    def test_redis_under_load_is_exact_and_tiny(self):
        server, socket = self.redis()
        load = harness.run(["redis-benchmark", "-s", socket, "-q", "-n", "20000", "-r", "10000",
                            "-P", "16", "-d", "64", "-t", "set,lpush,hset,zadd"])
        self.assertEqual(load.returncode, 0)
        harness.run(["redis-cli", "-s", socket, "shutdown", "nosave"])
        self.assertEqual(server.wait(harness.TIMEOUT), 0)
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        self.assertEqual(profile["tracker"]["dropped_events"], 0)
        # Redis has threads: its peak is within 0.1 %, and says so.
        bound = profile["tracker"]["peak_bound_bytes"]
        self.assertLessEqual(abs(profile["tracker"]["counter_peak_bytes"] -
                                 profile["peak"]["bytes"]), bound)
        self.assertLessEqual(bound, profile["peak"]["bytes"] / 1000)
        self.assertGreater(profile["total"]["allocations"], 100000)
        self.assertLess(os.path.getsize(self.path("x.memprof")), 64 << 10)

    def test_redis_killed_under_load_leaves_what_was_live(self):
        server, socket = self.redis()
        with open(f"/proc/{server.pid}/task/{server.pid}/children", encoding="ascii") as file:
            pid = int(file.read().split()[0])
        load = subprocess.Popen(["redis-benchmark", "-s", socket, "-q", "-n", "100000000", "-r",
                                 "20000", "-P", "16", "-d", "512", "-t", "set"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(load.wait)
        self.addCleanup(load.kill)

        def used():
            text = harness.run(["redis-cli", "-s", socket, "info", "memory"]).stdout.decode()
            return int(re.search(r"used_memory:(\d+)", text)[1])
        # All keys are set once; from then on they are overwritten, and what is live stays the same.
        deadline = time.monotonic() + harness.TIMEOUT
        while used() < 14_000_000 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        by_redis = used()
        self.assertIsNone(load.poll())
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(server.wait(harness.TIMEOUT), 128 + signal.SIGKILL)
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        self.assertEqual(self.stats()["end"], {"kind": "signal", "code": 9})
        # Redis counts what its allocator gave: 528 to 540 bytes become a class of 640.
        self.assertLess(profile["leaked"]["bytes"], by_redis * 1.02)
        self.assertGreater(profile["leaked"]["bytes"], by_redis * 0.8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
