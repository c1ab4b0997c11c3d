#!/usr/bin/env python3
"""What other tools read of a capture: the same stacks and sums as `transform json` gives."""
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
        self.assertEqual(read.types, [("peak_objects", "count"), ("peak_space", "bytes"),
                                      ("leaked_objects", "count"), ("leaked_space", "bytes"),
                                      ("alloc_objects", "count"), ("alloc_space", "bytes")])
        self.assertEqual(read.default_type, "peak_space")
        sites = self.profile_json["sites"]
        self.assertEqual(len(read.samples), len(sites))
        for (stack, values, labels), site in zip(read.samples, sites):
            self.assertEqual(stack, [(f["function"], f["file"], f["line"])
                                     for f in site["frames"]])
            self.assertEqual(values, [site[figure][unit] for figure in FIGURES
                                      for unit in ("allocations", "bytes")])
            self.assertEqual(labels, {"thread": site["thread"]})

    def test_go_reads_pprof(self):
        go = shutil.which("go")
        if go is None:
            self.skipTest("go is not installed")
        environment = dict(os.environ, HOME=self.directory, PPROF_BINARY_PATH=self.directory)
        for figure, index in (("peak", "peak_space"), ("leaked", "leaked_space"),
                              ("total", "alloc_space")):
            done = harness.run([go, "tool", "pprof", "-top", "-unit=B", "-nodefraction=0",
                                f"-sample_index={index}", self.export("pprof", "-f")],
                               env=environment, cwd=self.directory)
            text = done.stdout.decode()
            self.assertEqual(done.returncode, 0, done.stderr)
            whole = re.search(r"of (\d+)B total", text)
            self.assertEqual(int(whole[1]), self.profile_json[figure]["bytes"], text)
            self.assertIn("RememberUser", text)

    def test_binary_formats_keep_off_the_terminal_and_names_are_checked(self):
        done = harness.run([harness.MEMPROF, "transform", "xml", self.path("x.memprof")])
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), "there are json, folded, csv, speedscope, pprof")


if __name__ == "__main__":
    unittest.main(verbosity=2)
