"""Python functions in the stacks: the same that the interpreter names."""
import glob
import json
import os
import signal
import subprocess
import time
import unittest

import harness

SCRIPT = os.path.join(harness.SOURCES, "python_stacks.py")
SIZE = 100003
MOST = 499

LEAK = """
def build():
    blocks = []
    for _ in range(100):
        blocks.append(bytearray(5000))
    return blocks


def leak():
    global kept
    kept = build()


leak()
"""


def interpreters():
    """Debian's, and those of pyenv from 3.8 on."""
    found = ["/usr/bin/python3"]
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))):
        minor = int(path.split("/versions/3.")[1].split(".")[0])
        if minor >= 8:
            found.append(path)
    return found


class PythonTest(harness.MemprofTest):
    def script(self, text, name="a.py"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def profile_aloud(self, command, flags=(), **options):
        return harness.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), *flags, "--",
                            *command], cwd=self.directory, **options)

    def python_stacks(self, sites):
        """The Python frames of each site of blocks of SIZE, with the number of allocations."""
        seen = {}
        for site in sites:
            total = site["total"]
            if not total["allocations"] or total["bytes"] != SIZE * total["allocations"]:
                continue
            stack = tuple((frame["function"], frame["file"], frame["line"])
                          for frame in site["frames"] if frame["kind"] == "python")[:MOST]
            seen[stack] = seen.get(stack, 0) + total["allocations"]
        return seen

    def compare(self, interpreter, flags=(), times="3"):
        done = self.profile([interpreter, SCRIPT, self.path("expected.json"), times],
                            flags=("--no-follow-fork", *flags))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("expected.json"), encoding="utf-8") as file:
            expected = {tuple(map(tuple, stack)): count for stack, count in json.load(file)}
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        self.assertEqual(self.python_stacks(profile["sites"]), expected)
        self.assertGreater(len(expected), 80)

    def test_are_those_of_sys_getframe(self):
        for interpreter in interpreters():
            with self.subTest(interpreter):
                self.compare(interpreter)

    def test_name_the_place_of_a_leak(self):
        for interpreter in interpreters():
            with self.subTest(interpreter):
                script = self.script(LEAK)
                done = self.profile_aloud([interpreter, script])
                self.assertNotIn(b"mimalloc", done.stderr)  # CPython has one that it doesn't use
                rows = json.loads(self.memprof("table", "--json", self.path("x.memprof")))["rows"]
                row = next(row for row in rows if row["function"] == "build")
                self.assertEqual((row["file"], row["line"], row["peak"]["allocations"]),
                                 (script, 5, row["peak"]["allocations"]))
                self.assertGreaterEqual(row["peak"]["bytes"], 100 * 5000)
                self.assertIn("← leak ← <module>", self.memprof("summary", self.path("x.memprof")))

    def test_stand_for_the_interpreters_frames(self):
        self.profile(["/usr/bin/python3", self.script(LEAK)])
        for flags, shown in (((), False), (("--native-frames",), True)):
            profile = json.loads(self.memprof("transform", "json", *flags, self.path("x.memprof")))
            kinds = [[frame["kind"] for frame in site["frames"]] for site in profile["sites"]]
            both = [stack for stack in kinds if "python" in stack and "interpreter" in stack]
            self.assertEqual(bool(both), shown)

    def test_are_left_out_on_request(self):
        self.profile(["/usr/bin/python3", self.script(LEAK)], flags=("--no-python",))
        for site in self.sites()["sites"]:
            self.assertNotIn("python", [frame["kind"] for frame in site["frames"]])

    def test_are_in_the_captures_of_forked_and_spawned_children(self):
        self.script("""
import multiprocessing, os
def work(count):
    global kept
    kept = [bytearray(5000) for _ in range(count)]
def forks():
    if os.fork() == 0:
        work(100)
        os._exit(0)
    os.wait()
if __name__ == "__main__":
    forks()
    for method in ("fork", "spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=work, args=(100,))
        process.start()
        process.join()
""")
        self.profile(["/usr/bin/python3", self.path("a.py")], flags=("--wait",))
        sites = self.sites("x.all.memprof")["sites"]
        count = sum(site["total"]["allocations"] for site in sites
                    if any(frame["function"].startswith("work") and frame["kind"] == "python"
                           for frame in site["frames"]) and
                    site["total"]["bytes"] >= 5000 * site["total"]["allocations"])
        self.assertEqual(count, 400)

    def test_are_those_of_an_interpreter_that_is_opened_later(self):
        libraries = glob.glob(os.path.expanduser(
            "~/.pyenv/versions/3.*/lib/libpython3.*.so.1.0"))
        tried = 0
        for library in libraries:
            version = os.path.dirname(os.path.dirname(library))
            if int(version.split("/versions/3.")[1].split(".")[0]) < 8:
                continue
            with self.subTest(library):
                done = self.profile(
                    [os.path.join(harness.PROGRAMS, "late_interpreter"), library],
                    env=dict(os.environ, PYTHONHOME=version))
                self.assertEqual(done.returncode, 0, done.stderr)
                blocks = sum(site["total"]["allocations"] for site in self.sites()["sites"]
                             if site["total"]["bytes"] == 5001 * site["total"]["allocations"] and
                             ("build", 2) in [(frame["function"], frame["line"])
                                              for frame in site["frames"]])
                self.assertEqual(blocks, 200)
                tried += 1
        if tried == 0:
            self.skipTest("no libpython here")

    def test_are_read_by_an_attached_tracker(self):
        script = self.script("""
import sys, time
kept = []
def grow():
    kept.append(bytearray(7000))
while True:
    grow()
    time.sleep(0.01)
""")
        with subprocess.Popen(["/usr/bin/python3", script]) as program:
            time.sleep(0.5)
            self.memprof("attach", str(program.pid), "--duration", "1s", "-o",
                         self.path("x.memprof"))
            self.assertIsNone(program.poll())
            time.sleep(0.3)  # it goes on
            self.assertIsNone(program.poll())
            program.send_signal(signal.SIGTERM)
        rows = json.loads(self.memprof("table", "--json", self.path("x.memprof")))["rows"]
        self.assertEqual(rows[0]["function"], "grow")

    def test_are_named_by_budgets(self):
        self.profile(["/usr/bin/python3", self.script(LEAK)])
        for key, value, status in (("function", "build", 1), ("function", "nothing*", 0),
                                   ("source", "*/a.py", 1), ("module", "a.py", 1)):
            with open(self.path("memprof.toml"), "w", encoding="utf-8") as file:
                file.write(f'[[budget.match]]\n{key} = "{value}"\npeak = "100 KiB"\n')
            done = harness.run([harness.MEMPROF, "check", self.path("x.memprof"), "--budget",
                                self.path("memprof.toml")])
            self.assertEqual(done.returncode, status, (key, value, done.stdout, done.stderr))

    def test_count_with_samples_and_with_threads_that_end(self):
        script = self.script("""
import threading
def work():
    for _ in range(200):
        bytearray(20000)
for _ in range(20):
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
""")
        for flags in ((), ("--sample", "64K")):
            done = self.profile(["/usr/bin/python3", script], flags=flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            functions = {frame["function"] for site in self.sites()["sites"]
                         for frame in site["frames"] if frame["kind"] == "python"}
            self.assertIn("work", functions)
            self.assertIn("Thread.run", functions)

    def test_end_with_the_interpreter(self):
        script = self.script("""
import atexit, threading, time, sys
class Last:
    def __del__(self):
        [bytearray(3000) for _ in range(100)]
kept = Last()
atexit.register(lambda: [bytearray(3000) for _ in range(100)])
def forever():
    while True:
        bytearray(4000)
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
""")
        for interpreter in interpreters():
            # 3.10's threads take the lock of an interpreter that is freed already: bare, 7 of 600
            # such runs end by SIGSEGV in its take_gil (3.10.13). The other versions' don't.
            if "/3.10." in interpreter:
                continue
            for _ in range(5):
                done = self.profile([interpreter, script])
                self.assertEqual((interpreter, done.returncode, done.stderr), (interpreter, 0, b""))

    def test_stand_between_the_native_functions_of_an_extension(self):
        script = self.script("""
import native_calls
def callback():
    native_calls.allocate(54321)
def main():
    native_calls.call(callback)
main()
""")
        tried = 0
        for interpreter in interpreters():
            include = harness.run([interpreter, "-c", "import sysconfig; "
                                   "print(sysconfig.get_path('include'))"]).stdout.decode().strip()
            if not os.path.exists(os.path.join(include, "Python.h")):
                continue
            with self.subTest(interpreter):
                subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-g", "-I", include, "-o",
                                self.path("native_calls.so"),
                                os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                             "native_calls.c")], check=True)
                self.profile([interpreter, script])
                stacks = [[frame["function"] for frame in site["frames"]
                           if frame["kind"] in ("python", "program")]
                          for site in self.sites()["sites"] if site["total"]["bytes"] == 54321]
                self.assertEqual(stacks, [["take_block", "native_allocate", "callback",
                                           "call_back", "native_call", "main", "<module>"]])
                tried += 1
        if tried == 0:
            self.skipTest("no interpreter's headers here")

    def function_stacks(self, bytes_each):
        """The Python functions of each site of blocks of that size, with the number of allocations."""
        seen = {}
        for site in self.sites()["sites"]:
            total = site["total"]
            if total["allocations"] and total["bytes"] == bytes_each * total["allocations"]:
                stack = tuple(frame["function"] for frame in site["frames"]
                              if frame["kind"] == "python")
                seen[stack] = seen.get(stack, 0) + total["allocations"]
        return seen

    SUBINTERPRETERS = """
try:
    import _xxsubinterpreters as subinterpreters
except ImportError:
    import _interpreters as subinterpreters
"""

    def test_are_those_of_the_subinterpreter_that_runs(self):
        script = self.script(self.SUBINTERPRETERS + """
TEXT = "def inner():\\n    for _ in range(50): bytearray(100003)\\ninner()"
def outer():
    bytearray(100003)
    made = subinterpreters.create()
    subinterpreters.run_string(made, TEXT)
    subinterpreters.destroy(made)
    bytearray(100003)
outer()
""")
        for interpreter in interpreters():
            with self.subTest(interpreter):
                self.profile([interpreter, script])
                self.assertEqual(self.function_stacks(100004),
                                 {("inner", "<module>"): 50, ("outer", "<module>"): 2})

    def test_that_cannot_be_read_are_counted_and_said(self):
        """Up to 3.11, with a subinterpreter, without the lock: which interpreter runs isn't known."""
        script = self.script(self.SUBINTERPRETERS + """
import ctypes
libc = ctypes.CDLL(None)  # releases the lock
def outer():
    made = subinterpreters.create()
    for _ in range(7): libc.free(libc.malloc(54321))
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
outer()
""")
        for interpreter in interpreters():
            with self.subTest(interpreter):
                minor = int(harness.run([interpreter, "-c", "import sys; print(sys.version_info[1])"])
                            .stdout)
                done = self.profile_aloud([interpreter, script])
                unread = self.stats()["tracker"]["unread_python"]
                if minor <= 11:
                    self.assertEqual(self.function_stacks(54321), {(): 7})
                    self.assertGreaterEqual(unread, 7)
                    self.assertIn(b"lack Python functions that could not be read", done.stderr)
                    self.assertIn("stacks without Python functions",
                                  self.memprof("summary", self.path("x.memprof")))
                else:
                    self.assertEqual(self.function_stacks(54321), {("outer", "<module>"): 7})
                    self.assertEqual(unread, 0)

    OBJECTS = """
import sys
def build(size):
    made = []
    for _ in range(1000): made.append(b"0123456789" * size)
    return made
def leave(size):
    for _ in range(1000): b"0123456789" * size
def large(size):
    made = []
    for _ in range(100): made.append(b"0123456789" * size)
    return made
kept = build(10)
leave(10)
also = large(100)
grown = []
for i in range(5000): grown.append(i + 1000)
"""

    def test_objects_are_counted_one_by_one(self):
        script = self.script(self.OBJECTS)
        small, large = 133, 1033  # with the header of a bytes object, and its 0
        for interpreter in interpreters():
            with self.subTest(interpreter):
                done = self.profile_aloud([interpreter, script],
                                          flags=("--trace-python-allocators",))
                self.assertEqual(done.returncode, 0)
                profile = self.sites()
                self.assert_rows_sum_to_totals(profile)
                rows = {}
                for site in profile["sites"]:
                    kind, total = site["kind"], site["total"]
                    where = next((frame["function"] for frame in site["frames"]
                                  if frame["kind"] == "python"), None)
                    rows.setdefault((where, kind), []).append(site)
                def of(function, kind, figure, size):
                    return sum(site[figure]["allocations"] for site in rows.get((function, kind), ())
                               if site["total"]["bytes"] == size * site["total"]["allocations"])
                self.assertEqual(of("build", "pymalloc_malloc", "total", small), 1000)
                self.assertEqual(of("build", "pymalloc_malloc", "peak", small), 1000)
                self.assertEqual(of("leave", "pymalloc_malloc", "total", small), 1000)
                self.assertLessEqual(of("leave", "pymalloc_malloc", "peak", small), 1)
                self.assertEqual(of("large", "pymalloc_malloc", "total", large), 100)
                self.assertEqual(of("large", "malloc", "total", large), 0)
                self.assertIn("pymalloc_realloc", [kind for _, kind in rows])
                self.assertEqual(self.stats()["tracker"]["unknown_frees"], 0)
                # The arenas would count the same bytes once more.
                mapped = json.loads(self.memprof("table", "--mmap", "--json",
                                                 self.path("x.memprof")))["rows"]
                self.assertFalse([row for row in mapped if "rena" in row["function"]], mapped)

    def test_objects_are_in_arenas_by_default(self):
        for interpreter in interpreters():
            with self.subTest(interpreter):
                self.profile([interpreter, self.script(self.OBJECTS)])
                self.assertFalse([site for site in self.sites()["sites"]
                                  if site["kind"].startswith("pymalloc")])
                text = self.memprof("stats", self.path("x.memprof"))
                self.assertRegex(text, "pools of small Python objects")

    def test_objects_of_other_allocators_are_said_not_to_be_counted(self):
        script = self.script(self.OBJECTS)
        for variables, said in (({}, False), ({"PYTHONMALLOC": "malloc"}, True),
                                ({"PYTHONMALLOC": "debug"}, True)):
            done = self.profile_aloud(["/usr/bin/python3", script],
                                      flags=("--trace-python-allocators",),
                                      env=dict(os.environ, **variables))
            self.assertEqual(done.returncode, 0)
            self.assertEqual(b"objects are not counted one by one" in done.stderr, said, done.stderr)

    def test_objects_are_counted_in_forked_children_and_in_samples(self):
        script = self.script("""
import os, threading
def build(size=10):
    made = []
    for _ in range(20000): made.append(b"0123456789" * size)
    return made
if os.fork() == 0:
    kept = build()
    os._exit(0)
os.wait()
threads = [threading.Thread(target=build) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
        self.profile(["/usr/bin/python3", script], flags=("--trace-python-allocators", "--wait"))
        for capture, count in (("x.memprof", 80000), ("x.all.memprof", 100000)):
            found = sum(site["total"]["allocations"] for site in self.sites(capture)["sites"]
                        if site["kind"] == "pymalloc_malloc" and
                        site["total"]["bytes"] == 133 * site["total"]["allocations"])
            self.assertEqual(found, count)
        self.profile(["/usr/bin/python3", script], flags=("--trace-python-allocators", "--sample", "16K",
                                                          "--no-follow-fork"))
        estimate = sum(site["total"]["bytes"] for site in self.sites()["sites"]
                       if site["kind"] == "pymalloc_malloc" and
                       site["total"]["bytes"] > 100 * site["total"]["allocations"] and
                       "build" in [frame["function"] for frame in site["frames"]])
        self.assertLess(abs(estimate - 80000 * 133), 0.25 * 80000 * 133)

    def test_are_missing_with_one_line_if_the_version_is_not_known(self):
        old = [path for version in ("2.7", "3.6", "3.7") for path in
               glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python"))]
        if not old:
            self.skipTest("no such interpreter here")
        for interpreter in old:
            done = harness.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"), "--",
                                interpreter, "-c", "x = [bytearray(5000) for i in range(100)]"])
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count(b"no Python functions"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
