#!/usr/bin/python3
"""Exports read by other tools: they have the same stacks and sums as `transform json`."""
import csv
import json
import os
import re
import shutil
import unittest

import harness
import pprof_model

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
FIGURES = ("peak", "leaked", "total")


class ExportsTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.profile([LEAKY])
        self.profile_json = self.sites()

    def export(self, name, *options):
        self.memprof("transform", name, self.path("x.memprof"), "-o", self.path(name), *options)
        return self.path(name)

    def test_csv(self):
        with open(self.export("csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        sites = self.profile_json["sites"]
        self.assertEqual(len(rows), len(sites))
        for row, site in zip(rows, sites):
            for figure in FIGURES:
                for unit in ("bytes", "allocations"):
                    self.assertEqual(int(row[f"{figure}_{unit}"]), site[figure][unit])
            self.assertEqual(row["stack"].split(" < "), [f["function"] for f in site["frames"]])

    def test_speedscope(self):
        with open(self.export("speedscope"), encoding="utf-8") as file:
            document = json.load(file)
        names = [frame["name"] for frame in document["shared"]["frames"]]
        for figure, one in zip(FIGURES, document["profiles"]):
            self.assertEqual(sum(one["weights"]), self.profile_json[figure]["bytes"])
            self.assertEqual(one["endValue"], sum(one["weights"]))
            expected = [[f["function"] for f in reversed(site["frames"])]
                        for site in self.profile_json["sites"] if site[figure]["bytes"]]
            self.assertEqual([[names[i] for i in stack] for stack in one["samples"]], expected)

    def test_pprof(self):
        read = pprof_model.Profile(self.export("pprof"))
        # Go's four first, in Go's order.
        self.assertEqual(read.types, [(f"{name}_{unit}", {"objects": "count", "space": "bytes"}[unit])
                                      for name in ("alloc", "inuse", "peak", "leaked", "temporary")
                                      for unit in ("objects", "space")])
        self.assertEqual(read.default_type, "peak_space")
        sites = self.profile_json["sites"]
        self.assertEqual(len(read.samples), len(sites))
        for (stack, values, labels), site in zip(read.samples, sites):
            self.assertEqual(stack, [(f["function"], f["file"], f["line"])
                                     for f in site["frames"]])
            self.assertEqual(values, [site[figure][unit] for figure in
                                      ("total", "leaked", "peak", "leaked", "temporary")
                                      for unit in ("allocations", "bytes")])
            self.assertEqual(labels, {"thread": site["thread"]})

    def test_go_reads_pprof(self):
        if harness.GO is None:
            self.skipTest("Debian's go is not installed")
        environment = dict(os.environ, HOME=self.directory, PPROF_BINARY_PATH=self.directory)
        for figure, index in (("peak", "peak_space"), ("leaked", "leaked_space"),
                              ("total", "alloc_space"), ("leaked", "inuse_space")):
            done = harness.run([harness.GO, "tool", "pprof", "-top", "-unit=B", "-nodefraction=0",
                                f"-sample_index={index}", self.export("pprof", "-f")],
                               env=environment, cwd=self.directory)
            text = done.stdout.decode()
            self.assertEqual(done.returncode, 0, done.stderr)
            whole = re.search(r"of (\d+)B total", text)
            self.assertEqual(int(whole[1]), self.profile_json[figure]["bytes"], text)
            self.assertIn("RememberUser", text)
            self.assertIn("File: leaky_service", text)

    def test_ms_print_reads_massif(self):
        done = harness.run(["ms_print", "--threshold=0", self.export("massif")])
        text = done.stdout.decode()
        self.assertEqual((done.returncode, done.stderr), (0, b""), text)
        rows = re.findall(r"^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +0 +0$", text, re.M)
        totals = [int(row[2].replace(",", "")) for row in rows]
        self.assertEqual(totals[0], 0)
        self.assertIn(self.profile_json["peak"]["bytes"], totals)
        self.assertEqual(totals[-1], self.profile_json["leaked"]["bytes"])
        self.assertIn("Command:            " + LEAKY, text)
        detailed = re.search(r"Detailed snapshots: \[(.*)\]", text)[1].split(", ")
        peak = next(i for i, name in enumerate(detailed) if name.endswith(" (peak)"))
        # Lines right below the allocation functions: they sum to it.
        trees = text.split("(heap allocation functions)")[1:]
        for tree, figure in zip((trees[peak], trees[-1]), ("peak", "leaked")):
            sums = [int(line.replace(",", ""))
                    for line in re.findall(r"^->[\d.]+% \(([\d,]+)B\)", tree, re.M)]
            self.assertEqual(sum(sums), self.profile_json[figure]["bytes"])
            self.assertRegex(tree, r"\(250,000B\) 0x\w+: RememberUser\(char const\*\) "
                                   r"\(leaky_service\.cc:\d+\)")

    def test_speedscopes_importer_and_dhats_viewer(self):
        node = shutil.which("node") or shutil.which("nodejs")
        viewers = [v for v in ("/usr/libexec/valgrind/dh_view.html",
                               "/usr/lib/valgrind/dh_view.html") if os.path.exists(v)]
        self.assertTrue(viewers, "valgrind's dh_view.html is missing: apt-get install valgrind")
        done = harness.run(
            [node, os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_exports.mjs"),
             "--modules", os.path.join(harness.BUILD, "cli", "web", "page", "node_modules"),
             "--speedscope", self.export("speedscope"), "--dhat", self.export("dhat"),
             "--dhat-viewer", viewers[0]], cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        read = json.loads(done.stdout)

        saved = read["speedscope"]["saved"]
        self.assertEqual([one["name"] for one in saved["profiles"]],
                         ["live at the peak", "leaked", "allocated in all"])
        for figure, one in zip(FIGURES, saved["profiles"]):
            self.assertEqual(one["unit"], "bytes")
            self.assertEqual(one["endValue"] - one["startValue"],
                             self.profile_json[figure]["bytes"])
            self.assertEqual(one["events"][-1]["at"], self.profile_json[figure]["bytes"])
        self.assertIn("RememberUser(char const*)",
                      [frame["name"] for frame in saved["shared"]["frames"]])

        stats = self.stats()
        for figure in FIGURES:
            self.assertEqual(read["dhat"][figure], {unit: stats[figure][unit]
                                                    for unit in ("bytes", "allocations")})
        self.assertRegex(read["dhat"]["text"], r"RememberUser\(char const\*\) \(.*"
                                               r"leaky_service\.cc:\d+\)")
        self.assertIn("lifetimes (NaN) are not known", read["dhat"]["text"])

    def test_binary_formats_keep_off_the_terminal_and_names_are_checked(self):
        done = harness.run([harness.MEMPROF, "transform", "xml", self.path("x.memprof")])
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), "there are json, folded, csv, speedscope, pprof, massif, dhat")


if __name__ == "__main__":
    unittest.main(verbosity=2)
