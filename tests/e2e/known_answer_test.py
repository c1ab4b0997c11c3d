#!/usr/bin/env python3
"""Every program of ../programs that states its answer: bare and profiled it does the same, and the
capture is the answer, byte for byte. ../programs/README.md has the grammar of the answers.

usage: known_answer_test.py PROGRAM-SOURCE
"""
import collections
import os
import re
import sys
import unittest

import harness

FIGURES = ("peak", "leaked", "total", "temporary")


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


def counts(row, case):
    """{figure: (bytes, blocks)} of a row in a case of that name; a "?" is left out."""
    told = {f: row.get(f"{f}@{case}", row.get(f, "?")) for f in FIGURES}
    return {f: tuple(int(n) for n in text.split("/")) for f, text in told.items() if text != "?"}


def sizes(histogram):
    """{"MIN-MAX": blocks} of a histogram in JSON."""
    found = collections.Counter()
    for row in histogram:
        found[f"{row['min_bytes']}-{row['max_bytes']}"] += row["allocations"]
    return dict(found)


class KnownAnswerTest(harness.MemprofTest):
    source_file = ""

    def setUp(self):
        super().setUp()
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
            if not re.match(r"(\S+ )?(std|__gnu_cxx)::|operator (new|delete)", frame["function"]):
                return frame
        return None

    def matches(self, row, frame):
        return (self.is_own(frame) and bare_name(frame["function"]) == row["function"]
                and row.get("line", frame["line"]) == frame["line"])

    def check_row(self, row, sites, case):
        got = {f: (sum(s[f]["bytes"] for s in sites), sum(s[f]["allocations"] for s in sites))
               for f in FIGURES}
        wanted = counts(row, case)
        self.assertEqual({f: got[f] for f in wanted}, wanted, f"at {row}")
        if "sizes" in row:
            wanted = {size: int(n) for size, n in (one.split(":") for one in row["sizes"].split(","))}
            self.assertEqual(sizes([share for s in sites for share in s["histogram"]]), wanted,
                             f"at {row}")

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
            wanted = counts(row, case)
            self.assertEqual({f: pair(profile[f]) for f in wanted}, wanted)
        for row in answer.rows("SIZES"):
            self.assertEqual(sizes(profile["histogram"]),
                             {size: int(n) for size, n in row.items()})
        for row in answer.rows("KINDS"):
            self.assertEqual({kind["kind"]: f"{kind['bytes']}/{kind['allocations']}"
                              for kind in profile["kinds"]}, row)

    def check_tracker(self, profile):
        for words in self.answer.lines["TRACKER"]:
            for word in words:
                name, relation, value = re.match(r"(\w+)(>=|<=|=)(\d+)$", word).groups()
                got = profile["tracker"][name]
                if relation == "=":
                    self.assertEqual(got, int(value), name)
                elif relation == "<=":
                    self.assertLessEqual(got, int(value), name)
                else:
                    self.assertGreaterEqual(got, int(value), name)

    def check_case(self, case):
        program = os.path.join(harness.PROGRAMS,
                               os.path.splitext(os.path.basename(self.source_file))[0])
        arguments = case["args"].split(",") if "args" in case else []
        status = int(case.get("status", 0))
        environment = dict(os.environ, KNOWN_ANSWER=self.path("bare.answer"))
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

    def test_agrees_with_its_answer(self):
        for needs in self.answer.lines["NEEDS"]:
            if "root" in needs and os.geteuid() != 0:
                self.skipTest("needs root")
        for case in list(self.answer.rows("CASE")) or [{}]:
            with self.subTest(**case):
                self.check_case(case)


if __name__ == "__main__":
    KnownAnswerTest.source_file = sys.argv.pop(1)
    unittest.main(verbosity=2)
