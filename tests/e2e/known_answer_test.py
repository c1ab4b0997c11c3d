#!/usr/bin/python3
"""Every program of ../programs that states its answer behaves the same bare and profiled, and the
capture matches the answer, byte for byte. ../programs/README.md has the grammar of the answers.

usage: known_answer_test.py PROGRAM-SOURCE [jemalloc|tcmalloc|mimalloc]
With an allocator: its library preloaded, behind the tracker's as memprof puts it.
"""
import collections
import glob
import os
import re
import sys
import unittest

import harness

FIGURES = ("peak", "leaked", "total", "temporary")
LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
             "mimalloc": "libmimalloc.so.2.0"}
OTHER = "other"  # in an answer: any allocator but glibc's
Block = collections.namedtuple("Block", "kind bytes")
# An allocator's library that needs libstdc++ brings the pool of its exceptions.
POOL = Block("malloc", 72704)
# Allocations of a library with itself. These and the pool are allocated by constructors, whose stacks
# end in the loader, each at a place of its own, and never freed.
OWN_BLOCKS = {"tcmalloc": [Block("new", 16), Block("new", 8)]}


def library_of(allocator):
    """The path of its library; the loader would run the program without one that isn't there."""
    paths = glob.glob(f"/usr/lib/*-linux-gnu/{LIBRARIES[allocator]}")
    if not paths:
        raise FileNotFoundError(f"{LIBRARIES[allocator]} is missing; ./dev test installs it")
    return paths[0]


def needs_libstdcxx(path):
    return b"libstdc++" in harness.run(["ldd", path]).stdout


def pair(count):
    return (count["bytes"], count["allocations"])


def bare_name(function):
    """The last name of a C++ signature: "ns::Type::name<int>(char)" gives "name"."""
    depth = 0
    end = len(function)
    for i, c in enumerate(function):
        if c == "<":
            depth += 1
        elif c == ">":
            depth -= 1
        elif c == "(" and depth == 0 and not function.startswith("(anonymous namespace)", i):
            end = i
            break
    return re.sub(r"<.*>", "", function[:end]).split("::")[-1].split(" ")[-1]


class Answer:
    """The lines of a program's header comment."""

    def __init__(self, text, source):
        self.lines = collections.defaultdict(list)
        self.markers = {}
        for number, line in enumerate(source.splitlines(), 1):
            for marker in re.findall(r"//\s*@(\w+)\s*$", line):
                self.markers["@" + marker] = number
        for line in text.splitlines():
            match = re.match(r"(?://\s*)?([A-Z]{3,})\b(.*)$", line.strip())
            if match:
                self.lines[match[1]].append(match[2].split())

    def rows(self, kind):
        for words in self.lines[kind]:
            row = dict(word.split("=", 1) for word in words if "=" in word)
            if "line" in row:
                row["line"] = self.markers[row["line"]]
            yield row


def counts(row, case, allocator):
    """{figure: (bytes, blocks)} of a row in a case of that name; a "?" is left out."""
    variants = (case, allocator, OTHER if allocator else None)
    told = {f: next((row[f"{f}@{v}"] for v in variants if f"{f}@{v}" in row), row.get(f, "?"))
            for f in FIGURES}
    return {f: tuple(int(n) for n in text.split("/")) for f, text in told.items() if text != "?"}


def range_of(size):
    """The histogram's "MIN-MAX" that a block of so many bytes is in."""
    power = 1 << (size.bit_length() - 1)
    return f"{power}-{2 * power - 1}"


def sizes(histogram):
    """{"MIN-MAX": blocks} of a histogram in JSON."""
    found = collections.Counter()
    for row in histogram:
        found[f"{row['min_bytes']}-{row['max_bytes']}"] += row["allocations"]
    return dict(found)


class KnownAnswerTest(harness.MemprofTest):
    source_file = ""
    program = None    # a build of it by another name
    allocator = None  # that takes glibc's place
    preload = None    # its library, unless the program is linked with it

    def setUp(self):
        super().setUp()
        self.brought = []  # the blocks that come with the allocator's library
        with open(self.source_file, encoding="utf-8") as file:
            self.source = file.read()
        header = []
        for line in self.source.splitlines():
            if not line.startswith("//"):
                break
            header.append(line)
        self.answer = Answer("\n".join(header), self.source)
        self.own_files = {os.path.basename(self.source_file)}
        for words in self.answer.lines["SOURCES"]:
            self.own_files.update(words)
        for extra in self.own_files - {os.path.basename(self.source_file)}:
            with open(os.path.join(os.path.dirname(self.source_file), extra),
                      encoding="utf-8") as file:
                for number, line in enumerate(file.read().splitlines(), 1):
                    for marker in re.findall(r"//\s*@(\w+)\s*$", line):
                        self.answer.markers["@" + marker] = number

    def is_own(self, frame):
        return os.path.basename(frame["file"]) in self.own_files

    def place(self, site):
        """The innermost frame that is not the C++ library's."""
        for frame in site["frames"]:
            if not re.match(r"(\S+ )?(std|__gnu_cxx)::|operator (new|delete)|memprof_pool_alloc", frame["function"]):
                return frame
        return None

    def matches(self, row, frame):
        return (self.is_own(frame) and bare_name(frame["function"]) == row["function"]
                and row.get("line", frame["line"]) == frame["line"])

    def check_row(self, row, sites, case):
        got = {f: (sum(s[f]["bytes"] for s in sites), sum(s[f]["allocations"] for s in sites))
               for f in FIGURES}
        wanted = counts(row, case, self.allocator)
        self.assertEqual({f: got[f] for f in wanted}, wanted, f"at {row}")
        if "running" in row:
            of_running = [s["leaked"] for s in sites if s.get("of_running_threads")]
            self.assertEqual((sum(leaked["bytes"] for leaked in of_running),
                              sum(leaked["allocations"] for leaked in of_running)),
                             tuple(int(n) for n in row["running"].split("/")), f"at {row}")
        if "sizes" in row:
            wanted = {size: int(n) for size, n in (one.split(":") for one in row["sizes"].split(","))}
            self.assertEqual(sizes([share for s in sites for share in s["histogram"]]), wanted,
                             f"at {row}")

    @staticmethod
    def with_brought(count, blocks):
        return (count[0] + sum(block.bytes for block in blocks), count[1] + len(blocks))

    def check_answer(self, answer, profile, case):
        claimed = set()
        for row in answer.rows("SITE"):
            sites = []
            for index, site in enumerate(profile["sites"]):
                frame = self.place(site)
                if frame is None or not self.matches(row, frame):
                    continue
                if any(site[key] != row.get(key, site[key]) for key in ("thread", "kind")):
                    continue
                claimed.add(index)
                sites.append(site)
            self.check_row(row, sites, case)
        for row in answer.rows("WITHIN"):
            sites = [s for s in profile["sites"]
                     if any(self.matches(row, frame) for frame in s["frames"])]
            self.check_row(row, sites, case)
        for index, site in enumerate(profile["sites"]):
            frame = self.place(site)
            if frame is not None and self.is_own(frame) and index not in claimed:
                self.fail(f"a place without an answer: {frame}, {site['total']}")
        for row in answer.rows("WHOLE"):
            wanted = counts(row, case, self.allocator)
            for figure in wanted.keys() - {"temporary"}:
                wanted[figure] = self.with_brought(wanted[figure], self.brought)
            self.assertEqual({f: pair(profile[f]) for f in wanted}, wanted)
        for row in answer.rows("SIZES"):
            wanted = collections.Counter({size: int(n) for size, n in row.items()})
            wanted.update(range_of(block.bytes) for block in self.brought)
            self.assertEqual(sizes(profile["histogram"]), wanted)
        for row in answer.rows("KINDS"):
            wanted = {kind: tuple(int(n) for n in text.split("/")) for kind, text in row.items()}
            for block in self.brought:
                wanted[block.kind] = self.with_brought(wanted.get(block.kind, (0, 0)), [block])
            self.assertEqual({kind["kind"]: pair(kind) for kind in profile["kinds"]}, wanted)

    def check_mappings(self, answer, profile, case):
        mappings = profile["mappings"]
        speaks_of_mappings = "MAP" in answer.lines
        if mappings is None:
            self.assertFalse(speaks_of_mappings)
            return
        self.assertEqual(mappings["lost_events"], 0)
        self.assert_mappings_sum_to_totals(mappings)
        claimed = set()

        def check(row, figures):
            got = {f: (sum(one[f]["bytes"] for one in figures),
                       sum(one[f]["mappings"] for one in figures)) for f in FIGURES[:3]}
            wanted = counts(row, case, self.allocator)
            self.assertEqual({f: got[f] for f in wanted}, wanted, f"at {row}")

        for row in answer.rows("MAP"):
            figures = []
            for index, one in enumerate(mappings["rows"]):
                frame = self.place(one)
                if (frame is None or not self.matches(row, frame)
                        or one["kind"] != row.get("kind", one["kind"])
                        or row.get("reserved", "yes" if one["reserved"] else "no")
                        != ("yes" if one["reserved"] else "no")
                        or os.path.basename(one["file"]) != row.get("file", os.path.basename(one["file"]))):
                    continue
                claimed.add(index)
                figures.append(one)
            check(row, figures)
        for index, one in enumerate(mappings["rows"]):
            frame = self.place(one)
            if frame is not None and self.is_own(frame) and index not in claimed:
                self.assertFalse(speaks_of_mappings, f"a place without an answer: {one}")
        for row in answer.rows("MAPPED"):
            check(row, [mappings])

    def check_tracker(self, profile):
        told = {}
        for word in (word for words in self.answer.lines["TRACKER"] for word in words):
            name, where, relation, value = re.match(r"(\w+)(?:@(\w+))?(>=|<=|=)(\d+)$", word).groups()
            if where in (None, self.allocator) or (where == OTHER and self.allocator):
                told[name, relation] = int(value)  # what is said of an allocator comes later
        for (name, relation), value in told.items():
            got = profile["tracker"][name]
            if name == "incomplete_stacks":
                got -= len(self.brought)
            if relation == "=":
                self.assertEqual(got, value, name)
            elif relation == "<=":
                self.assertLessEqual(got, value, name)
            else:
                self.assertGreaterEqual(got, value, name)

    def check_case(self, case):
        name = self.program or os.path.splitext(os.path.basename(self.source_file))[0]
        program = os.path.join(harness.PROGRAMS, name)
        arguments = case["args"].split(",") if "args" in case else []
        status = int(case.get("status", 0))
        environment = dict(os.environ, KNOWN_ANSWER=self.path("bare.answer"))
        if self.preload is not None:
            environment["LD_PRELOAD"] = self.preload
            self.brought = OWN_BLOCKS.get(self.allocator, []) + (
                [POOL] if needs_libstdcxx(self.preload) and not needs_libstdcxx(program) else [])
        bare = self.bare([program, *arguments], env=environment)
        if bare.returncode == 77:
            self.skipTest(bare.stdout.decode() or "the program can't do its part here")
        environment["KNOWN_ANSWER"] = self.path("answer")
        flags = case["flags"].split(",") if "flags" in case else []
        profiled = self.profile([program, *arguments], flags, env=environment)
        self.assertEqual(bare.returncode if bare.returncode >= 0 else 128 - bare.returncode, status,
                         "bare")
        self.assertEqual(profiled.returncode, status, profiled.stderr)
        self.assertEqual(profiled.stdout, bare.stdout)
        self.assertEqual(profiled.stderr, bare.stderr)

        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        kind, code = case.get("end", "exit:0").split(":")
        self.assertEqual(profile["end"], {"kind": kind, "code": int(code)})
        self.check_tracker(profile)
        answer = self.answer
        if "ANSWER" in answer.lines:
            with open(self.path("answer"), encoding="utf-8") as file:
                answer = Answer(file.read(), self.source)
        self.check_answer(answer, profile, case.get("name"))
        self.check_mappings(answer, profile, case.get("name"))

    def test_agrees_with_its_answer(self):
        for needs in self.answer.lines["NEEDS"]:
            if "root" in needs and os.geteuid() != 0:
                self.skipTest("needs root")
        self.check_cases()

    def check_cases(self):
        allocator = self.allocator or "glibc"
        cases = [case for case in list(self.answer.rows("CASE")) or [{}]
                 if allocator in case.get("with", allocator).split(",")]
        for case in self.answer.rows("CASE"):
            self.assertLessEqual(set(case.get("with", "glibc").split(",")), {"glibc", *LIBRARIES})
        self.assertTrue(cases or self.allocator, "no case with glibc")
        if not cases:
            self.skipTest(f"its answer doesn't hold with {allocator}")
        for case in cases:
            with self.subTest(**case):
                self.check_case(case)


if __name__ == "__main__":
    KnownAnswerTest.source_file = sys.argv.pop(1)
    if len(sys.argv) > 1 and sys.argv[1] in LIBRARIES:
        KnownAnswerTest.allocator = sys.argv.pop(1)
        KnownAnswerTest.preload = library_of(KnownAnswerTest.allocator)
    unittest.main(verbosity=2)
