#!/usr/bin/python3
"""--json and --csv of summary, table and tree: the names of `transform json`, every row, and sums
that are the totals; --bottom-up in all forms."""
import csv
import io
import json
import os
import re
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
FIGURES = ("peak", "leaked", "total")
UNITS = ("bytes", "allocations")


class ReportDataTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.profile([LEAKY])
        self.totals = self.stats()

    def data(self, command, *options):
        return json.loads(self.memprof(command, "--json", "x.memprof", *options))

    def lines(self, command, *options):
        return list(csv.DictReader(io.StringIO(
            self.memprof(command, "--csv", "x.memprof", *options))))

    def test_rows(self):
        for command in ("summary", "table"):
            for options in ((), ("-n", "1"), ("--leaks",), ("--bottom-up",)):
                if command == "summary" and "--bottom-up" in options:
                    continue
                data = self.data(command, *options)
                rows = self.lines(command, *options)
                for name, value in self.totals.items():
                    self.assertEqual(data[name], value)
                self.assertEqual(data["figure"], "leaked" if "--leaks" in options else "peak")
                for figure in FIGURES:
                    for unit in UNITS:
                        whole = self.totals[figure][unit]
                        self.assertEqual(sum(r[figure][unit] for r in data["rows"]), whole)
                        self.assertEqual(sum(int(r[f"{figure}_{unit}"]) for r in rows), whole)
        self.assertEqual(self.data("table")["rows"][0]["function"], "Session::Session()")
        limited = self.data("table", "-n", "1")["rows"]
        self.assertEqual([row["function"] for row in limited], ["Session::Session()", "[others]"])

    def test_rows_have_their_callers(self):
        for row in self.data("table", "--bottom-up")["rows"]:
            callers = row.get("callers", [])
            if row["function"] == "RememberUser(char const*)":
                self.assertEqual([c["function"] for c in callers], ["Serve(Session*, int)"])
            for figure in FIGURES if callers else ():
                for unit in UNITS:
                    self.assertEqual(sum(c[figure][unit] for c in callers), row[figure][unit])
        self.assertNotIn("callers", self.data("table")["rows"][0])
        self.assertRegex(self.memprof("table", "--bottom-up", "x.memprof"),
                         r"RememberUser\(char const\*\) .*\n.* 1,000 .*  ← Serve\(Session\*, int\)")
        rows = self.lines("table", "--bottom-up")
        self.assertIn(("Session::Session()", "main"),
                      [(row["function"], row["caller"]) for row in rows])

    def test_a_named_wrapper_gives_its_bytes_to_its_callers(self):
        place = self.data("table")["rows"][0]["function"]
        rows = self.data("table", "--wrapper", "Session::*")["rows"]
        self.assertNotIn(place, [row["function"] for row in rows])
        self.assertNotIn("Session::", rows[0]["function"])
        self.assertEqual(sum(row["peak"]["bytes"] for row in rows), self.totals["peak"]["bytes"])

    def test_tree(self):
        for options in ((), ("-n", "2"), ("--leaks",), ("--bottom-up",), ("--all-frames",)):
            data = self.data("tree", *options)
            figure = "leaked" if "--leaks" in options else "peak"
            nodes = data["nodes"]
            below = {}
            for node in nodes[1:]:
                below.setdefault(node["parent"], []).append(node)
            self.assertIsNone(nodes[0]["parent"])
            for unit in UNITS:
                self.assertEqual(nodes[0][unit], self.totals[figure][unit])
            for index, node in enumerate(nodes):
                for unit in UNITS if index in below else ():
                    self.assertEqual(sum(child[unit] for child in below[index]), node[unit])
            rows = self.lines("tree", *options)
            self.assertEqual([(row["function"], row["parent"], int(row[f"{figure}_bytes"]))
                              for row in rows],
                             [(n["function"], "" if n["parent"] is None else str(n["parent"]),
                               n["bytes"]) for n in nodes])
        names = [node["function"] for node in self.data("tree", "--bottom-up")["nodes"]]
        self.assertLess(names.index("RememberUser(char const*)"),
                        names.index("Serve(Session*, int)"))
        text = self.memprof("tree", "--bottom-up", "x.memprof")
        self.assertTrue(re.search(r"RememberUser.*\n.*Serve.*\n.*main", text), text)

    def test_json_or_csv_not_both(self):
        done = harness.run([harness.MEMPROF, "table", "--json", "--csv", "x.memprof"],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
