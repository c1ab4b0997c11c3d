#!/usr/bin/python3
"""docs/schemas describes the JSON of every command: real outputs are valid by it, and an output with
another name or another type is not."""
import copy
import glob
import json
import os
import shutil
import subprocess
import unittest

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMAS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "schemas")
NODE = shutil.which("node") or shutil.which("nodejs")
# Every command, with options that change its JSON. Each prints by one document.
COMMANDS = (
    ("stats.json", ("stats", "--json")),
    ("rows.json", ("summary", "--json")),
    ("rows.json", ("summary", "--json", "-n", "1", "--leaks")),
    ("rows.json", ("table", "--json", "--show-runtime", "--total")),
    ("rows.json", ("table", "--json", "--bottom-up", "--temporary")),
    ("tree.json", ("tree", "--json")),
    ("tree.json", ("tree", "--json", "--bottom-up", "-n", "2", "--leaks")),
    ("tree.json", ("tree", "--json", "--all-frames")),
    ("transform.json", ("transform", "json", "--stack-table")),
    ("transform.json", ("transform", "json")),
    ("transform.json", ("transform", "json", "--history")),
)
BUDGET = """
[budget]
peak = 1
allocations = 100000000
temporary = 1
leaked = "+5%"
peak_rss = "+5%"
growth_per_hour = 1000
lost = 0
[[budget.match]]
function = "Nobody"
required = true
[[budget.match]]
function = "*"
peak_share = "1%"
[[budget.suppress]]
function = "x"
reason = "r"
expires = 2020-01-01
"""


# Leaks blocks and mappings, at two places each, at a fixed pace for 1.5 seconds.
GROWING = r"""
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static void pause_until(long step) {
  static struct timespec start;
  if (start.tv_sec == 0) clock_gettime(CLOCK_MONOTONIC, &start);
  struct timespec until = {start.tv_sec, start.tv_nsec + step * 10000000};
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void map(void) {
  mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void remember(void) {
  volatile char* block = malloc(4000);
  block[0] = 1;
}
static void keep(void) {
  volatile char* block = malloc(9000);
  block[0] = 1;
}

int main(void) {
  for (long step = 0; step < 150; ++step) {
    pause_until(step);
    map();
    remember();
    keep();
    if (step % 2 == 0) mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
}
"""

OWN_MALLOC = """
#include <stddef.h>
static char heap[1 << 20];
static size_t used;
void* malloc(size_t n) {
  used += (n + 15) & ~15ul;
  return heap + used;
}
void free(void* p) { (void)p; }
int main(void) { return malloc(10) == NULL; }
"""


def without_most_rows(value):
    """The same with at most two items of each list."""
    if isinstance(value, list):
        return [without_most_rows(item) for item in value[:2]]
    if isinstance(value, dict):
        return {name: without_most_rows(item) for name, item in value.items()}
    return value


def places(value, path=()):
    """The path of each property, once for all items of a list."""
    seen = set()

    def walk(value, path, kind):
        if isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, path + (index,), kind + ("[]",))
        elif isinstance(value, dict):
            for name, item in value.items():
                if kind + (name,) not in seen:
                    seen.add(kind + (name,))
                    found.append(path + (name,))
                walk(item, path + (name,), kind + (name,))

    found = []
    walk(value, path, ())
    return found


def broken(value):
    """(what was broken, the value with that alone): each property under another name, and each that
    is a number, a text or a truth as something else."""
    others = {int: str, float: str, str: lambda text: 5, bool: int}
    for path in places(value):
        for act in ("renamed", "mistyped"):
            copied = copy.deepcopy(value)
            parent = copied
            for step in path[:-1]:
                parent = parent[step]
            old = parent[path[-1]]
            if act == "renamed":
                parent[path[-1] + "_"] = parent.pop(path[-1])
            elif type(old) in others:
                parent[path[-1]] = others[type(old)](old)
            else:
                continue
            yield (act, *path), copied


class JsonSchemaTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.assertIsNotNone(NODE)
        self.outputs = []  # (document, command, value)

    def problems(self, cases):
        """What is wrong with each (document, value); None: nothing."""
        lines = "".join(json.dumps({"schema": document, "value": value}) + "\n"
                        for document, value in cases)
        done = harness.run(
            [NODE, os.path.join(HERE, "validate_json.mjs"), "--modules",
             os.path.join(harness.BUILD, "cli", "web", "page", "node_modules"), "--schemas", SCHEMAS],
            input=lines.encode(), stdin=None)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), len(cases))
        return answers

    def say(self, document, *command, status=0):
        value = json.loads(self.memprof(*command, status=status))
        self.outputs.append((document, command, value))
        return value

    def say_all(self, capture="x.memprof", *options):
        for document, command in COMMANDS:
            self.say(document, *command, capture, *options)
        return {document: value for document, _, value in self.outputs}

    def assert_valid(self):
        answers = self.problems([(document, value) for document, _, value in self.outputs])
        for (document, command, _), problem in zip(self.outputs, answers):
            self.assertIsNone(problem, f"{document}: {' '.join(command)}")

    def run_program(self, *command, flags=(), output="x.memprof", **options):
        done = self.profile([os.path.join(harness.PROGRAMS, command[0]), *command[1:]], flags, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        if output != "x.memprof":
            os.rename(self.path("x.memprof"), self.path(output))

    def start(self, program, **options):
        """A program that ends with its input, under memprof."""
        run = subprocess.Popen([harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"), "--",
                                os.path.join(harness.PROGRAMS, program)], cwd=self.directory,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait, harness.TIMEOUT)
        self.addCleanup(run.stdin.close)
        return run

    def step(self, run):
        run.stdin.write(b"x")
        run.stdin.flush()
        self.assertEqual(run.stdout.read(1), b"x")

    def test_a_plain_capture(self):
        self.run_program("leaky_service")
        of = self.say_all()
        self.assert_valid()
        self.assertGreater(of["stats.json"]["leaked"]["bytes"], 0)

    def test_a_merge_of_processes_and_some_of_them(self):
        self.run_program("process_tree", "exec")
        whole, = glob.glob(self.path("x*.all.memprof"))
        self.assertGreater(len(self.say_all(whole)["stats.json"]["sources"]), 1)
        some = self.say_all(whole, "--process", str(self.stats(whole)["sources"][0]["pid"]))
        self.assertTrue(some["stats.json"]["processes"]["figures_only"])
        self.assertEqual(set(some["stats.json"]["tracker"]), {"sites", "sample_bytes"})
        self.assert_valid()

    def test_leaks_of_threads_that_still_ran(self):
        done = self.profile([os.path.join(harness.PROGRAMS, "running_threads"), "return"])
        self.assertEqual(done.returncode, 3, done.stderr)
        of = self.say_all()
        with open(self.path("memprof.toml"), "w", encoding="utf-8") as file:
            file.write("[budget]\nleaked = 0\nallocations = 1\n")
        check = self.say("check.json", "check", "--format", "json", "x.memprof", "--budget",
                         "memprof.toml", status=1)
        self.assert_valid()
        self.assertIn(True, [site.get("of_running_threads") for site in of["transform.json"]["sites"]])
        self.assertEqual(["of_running_threads" in limit for limit in check["captures"][0]["checks"]],
                         [True, False])
        for command in (("table", "--json", "--leaks"), ("table", "--json", "--bottom-up")):
            rows = json.loads(self.memprof(*command, "x.memprof"))["rows"]
            self.assertIn("leaked_of_running_threads", rows[[r["function"] for r in rows].index("living")])

    def test_samples(self):
        self.run_program("sampled_sums", flags=["--sample", "64K"])
        of = self.say_all()
        self.assert_valid()
        self.assertIn("standard_error", of["tree.json"]["nodes"][0])
        self.assertIn("sizes", of["transform.json"]["sites"][0])

    def test_a_run_that_was_attached_to(self):
        with subprocess.Popen([os.path.join(harness.PROGRAMS, "attached_to")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, bufsize=1) as program:
            done = harness.run([harness.MEMPROF, "attach", str(program.pid), "--duration", "1", "-f",
                                "-o", self.path("x.memprof")])
            program.kill()
        if b"may not be traced" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        of = self.say_all()
        self.assert_valid()
        self.assertEqual(of["stats.json"]["tracker"]["attached"], 1)
        self.assertEqual(of["stats.json"]["end"]["kind"], "running")

    def test_a_named_moment_and_what_the_allocator_says(self):
        jemalloc = sorted(glob.glob("/usr/lib/*/libjemalloc.so.2"))
        self.assertTrue(jemalloc, "libjemalloc2 is in ./dev's list")
        run = self.start("grows_in_steps", env={**os.environ, "LD_PRELOAD": jemalloc[0]})
        self.step(run)
        self.memprof("snapshot", str(run.pid), "--name", "one")
        self.step(run)
        self.memprof("snapshot", str(run.pid), "--name", "two")
        self.assertEqual(self.say_all("x.memprof@one")["stats.json"]["end"]["kind"], "cut")
        run.stdin.close()
        self.assertEqual(run.wait(harness.TIMEOUT), 0)
        of = self.say_all("x.memprof@two")
        self.assert_valid()
        self.assertEqual(of["stats.json"]["selected"]["time_ms"],
                         of["stats.json"]["snapshots"][1]["time_ms"])
        self.assertEqual(of["stats.json"]["memory"]["allocator_last"]["provider"], "jemalloc")

    def test_mappings(self):
        self.run_program("mappings")
        of = self.say_all()
        self.assertGreater(len(of["transform.json"]["mappings"]["rows"]), 1)
        for options in ((), ("-n", "1", "--leaks")):
            rows = self.say("mappings.json", "table", "--mmap", "--json", "x.memprof", *options)["rows"]
            self.assertGreater(len(rows), 1)
        self.say("growth.json", "growth", "--json", "x.memprof")
        self.assert_valid()

    def run_compiled(self, source, *flags):
        with open(self.path("program.c"), "w", encoding="utf-8") as file:
            file.write(source)
        done = self.bare(["cc", "-g", "-O1", "-fno-inline", "-o", "program", "program.c"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.profile(["./program"], flags).returncode, 0)

    def test_what_is_in_no_figure(self):
        self.run_compiled(OWN_MALLOC)
        unseen, = self.say_all()["stats.json"]["unseen"]
        self.assertEqual(unseen["kind"], "allocator")
        self.assert_valid()

    def test_growth(self):
        for flags in ((), ("--sample", "1K")):
            self.run_compiled(GROWING, *flags)
            self.say_all()
            of = self.say("growth.json", "growth", "--json", "--limit", "1GiB", "x.memprof")
            self.assertIsNotNone(of["growth"]["mapped"])
            self.assertEqual({row["memory"] for row in of["rows"] if row["verdict"] == "grows"},
                             {"heap", "mapped"})
            self.assertIn("live", of["growth"]["mapped"])
            limited = self.say("growth.json", "growth", "--json", "-n", "1", "x.memprof")
            self.assertIn("[others]", [row["function"] for row in limited["rows"]])
        self.assert_valid()

    def test_differences(self):
        for build in ("old", "new"):
            self.run_program("two_builds_" + build, output=build)
        self.run_program("two_builds_new", flags=["--sample", "1K"], output="sampled")
        for by in ("site", "function", "module"):
            self.say("diff.json", "diff", "--json", "--by", by, "old", "new")
            self.say("diff.json", "diff", "--json", "--by", by, "old", "sampled")
        self.assert_valid()

    def check_all(self):
        for build in ("old", "new"):
            self.run_program("two_builds_" + build, output=build)
        self.run_program("two_builds_new", flags=["--sample", "1K"], output="sampled")
        with open(self.path("budget.toml"), "w", encoding="utf-8") as file:
            file.write(BUDGET)
        check = ("check", "--format", "json", "--budget", "budget.toml")
        self.say("check.json", *check, "new", "sampled", status=1)
        self.say("check.json", *check, "--baseline", "old", "new", "nowhere", "sampled", status=3)

    def test_verdicts(self):
        self.check_all()
        self.assert_valid()
        _, _, value = self.outputs[1]
        self.assertEqual([capture["status"] for capture in value["captures"]],
                         ["over", "unreadable", "over"])
        self.assertEqual({check["status"] for check in value["captures"][0]["checks"]},
                         {"within", "over", "not judged"})

    def ask(self, document, path):
        answer = harness.ask("unix:" + self.path("socket"), path)
        self.assertEqual(answer.status, 200, answer.text)
        self.outputs.append((document, (path,), json.loads(answer.body)))

    def say_while_it_runs(self):
        service = os.path.join(harness.PROGRAMS, "leaky_service")
        with subprocess.Popen([harness.MEMPROF, "run", "-q", "-o", self.path("live.memprof"), "--serve",
                               "unix:" + self.path("socket"), "--", "sh", "-c",
                               f"{service}; sleep 60"], cwd=self.directory, stdout=subprocess.DEVNULL) as run:
            try:
                while not [each for each in json.loads(self.memprof("list", "--json"))["runs"]
                           if each["supervisor"] == run.pid and each["live_bytes"] > 0]:
                    self.assertIsNone(run.poll())
                self.say("list.json", "list", "--json")
                self.say("top.json", "top", "--once", "--json", "-d", "0.1", str(run.pid))
                self.say("top.json", "top", "--once", "--json", "-d", "0.1", "--by", "site", str(run.pid))
                self.say("inspect.json", "inspect", "-q", "--json", str(run.pid))
                self.memprof("snapshot", str(run.pid), "--name", "one")
                self.ask("snapshots.json", "/snapshots")
                self.ask("live.json", "/live")
            finally:
                run.terminate()

    def test_a_run_that_goes_on(self):
        self.say_while_it_runs()
        self.assert_valid()
        of = {document: value for document, _, value in self.outputs}
        self.assertTrue(of["top.json"]["rows"])
        self.assertTrue(of["inspect.json"]["places"])
        self.assertTrue(of["live.json"]["processes"])
        self.assertTrue(of["snapshots.json"]["runs"][0]["snapshots"])

    def test_another_name_or_type_is_refused(self):
        self.check_all()
        self.say("diff.json", "diff", "--json", "old", "sampled")
        self.run_compiled(GROWING, "--sample", "1K")
        self.say_all()
        self.say("mappings.json", "table", "--mmap", "--json", "x.memprof")
        self.say("growth.json", "growth", "--json", "-n", "1", "x.memprof")
        self.say_while_it_runs()
        last = {document: without_most_rows(value) for document, _, value in self.outputs}
        self.assertEqual(set(last), {name for name in os.listdir(SCHEMAS) if name != "common.json"})
        self.assertEqual(set(self.problems(last.items())), {None})
        for document, value in last.items():
            cases = list(broken(value))
            # These have few properties.
            few = {"list.json": 15, "snapshots.json": 10, "live.json": 20}
            self.assertGreater(len(cases), few.get(document, 40))
            for (what, _), problem in zip(cases, self.problems([(document, b) for _, b in cases])):
                self.assertIsNotNone(problem, f"{document} allows {what}")

    def test_every_property_is_described_and_every_object_is_closed(self):
        documents = {}
        for name in os.listdir(SCHEMAS):
            with open(os.path.join(SCHEMAS, name), encoding="utf-8") as file:
                documents[name] = json.load(file)

        def described(name, schema):
            if "description" in schema or "$ref" not in schema:
                return "description" in schema
            document, pointer = schema["$ref"].split("#") if "#" in schema["$ref"] else (schema["$ref"], "")
            target = documents[document or name]
            for step in pointer.split("/")[1:]:
                target = target[step]
            return described(document or name, target)

        def walk(name, schema, path):
            if isinstance(schema, list):
                for item in schema:
                    walk(name, item, path)
            if not isinstance(schema, dict):
                return
            properties = schema.get("properties", {})
            for key, value in properties.items():
                self.assertTrue(described(name, value), f"{name}: {path} {key}")
            if "object" in schema.get("type", ()) and path != "program":
                self.assertIs(schema.get("additionalProperties"), False, f"{name}: {path}")
                self.assertLessEqual(set(schema["required"]), set(properties), f"{name}: {path}")
            for key, value in schema.items():
                if key in ("properties", "definitions"):
                    for one, below in value.items():
                        walk(name, below, one)
                else:
                    walk(name, value, path)

        for name, document in documents.items():
            self.assertEqual(document["$id"], name)
            walk(name, document, "")
        # The other documents add to these names, so they are closed by a list of them.
        of = documents["stats.json"]["definitions"]
        self.assertEqual(set(of["program_names"]["enum"]), set(of["program"]["properties"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
