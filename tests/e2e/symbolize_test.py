#!/usr/bin/python3
"""Captures that hold their symbols, and source paths as the reader wants them."""
import os
import re
import shutil
import subprocess
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
EXEC_SELF = os.path.join(harness.PROGRAMS, "exec_self")
REPORTS = (["summary"], ["summary", "--leaks"], ["table"], ["tree"], ["stats"],
           ["transform", "json"], ["transform", "csv"], ["transform", "folded"],
           ["transform", "speedscope"])
SAID = "is not here: the names are those stored in the capture"


class SymbolizeTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.program = self.path("service")
        shutil.copy(LEAKY, self.program)

    def test_a_named_pipe_in_the_place_of_debug_info_is_not_waited_for(self):
        debug = self.path("service.dbg")
        for command in (["objcopy", "--only-keep-debug", self.program, debug],
                        ["strip", self.program],
                        ["objcopy", f"--add-gnu-debuglink={debug}", self.program]):
            self.assertEqual(harness.run(command).returncode, 0, command)
        self.memprof("run", "-q", "-o", "x.memprof", self.program)
        self.assertIn("RememberUser", self.memprof("summary", "--leaks", "x.memprof"))
        os.unlink(debug)
        os.mkfifo(debug)
        self.assertIn("service", self.memprof("summary", "--leaks", "x.memprof"))

    def reports(self, capture):
        """What every report says of it: [(stdout, stderr)]."""
        texts = []
        for report in REPORTS:
            done = harness.run([harness.MEMPROF, *report, capture], cwd=self.directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            texts.append((done.stdout, done.stderr.decode()))
        self.memprof("flamegraph", "-f", "-o", self.path("x.html"), capture)
        with open(self.path("x.html"), "rb") as file:
            texts.append((file.read(), ""))
        return texts

    def test_a_capture_with_symbols_reports_the_same_without_the_binary(self):
        for how in ("run", "symbolize"):
            with self.subTest(how=how):
                shutil.copy(LEAKY, self.program)
                done = self.profile([self.program], ["--symbolize"] if how == "run" else [])
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                plain = [text for text, _ in self.reports(self.path("x.memprof"))]
                if how == "symbolize":
                    self.memprof("symbolize", self.path("x.memprof"))
                here = self.reports(self.path("x.memprof"))
                # Stored or not, reports are the same where all is there.
                self.assertEqual([text for text, _ in here], plain)
                os.mkdir(self.path(how))
                shutil.move(self.path("x.memprof"), self.path(how))
                os.unlink(self.program)
                there = self.reports(os.path.join(how, "x.memprof"))
                self.assertEqual([text for text, _ in there], [text for text, _ in here])
                self.assertNotIn(SAID, here[0][1])
                self.assertRegex(there[0][1], "^memprof: .*: service " + SAID + "\n$")

    def test_without_stored_symbols_a_binary_that_is_gone_leaves_offsets(self):
        self.profile([self.program])
        os.unlink(self.program)
        text = self.memprof("transform", "folded", self.path("x.memprof"))
        self.assertRegex(text, r"service\+0x[0-9a-f]+")
        self.assertNotIn("RememberUser", text)

    def test_another_build_in_its_place_is_not_used(self):
        self.profile([self.program], ["--symbolize"])
        before = self.memprof("table", "--leaks", self.path("x.memprof"))
        shutil.copy(os.path.join(harness.PROGRAMS, "exits"), self.program)
        done = harness.run([harness.MEMPROF, "table", "--leaks", self.path("x.memprof")])
        self.assertEqual(done.stdout.decode(), before)
        self.assertIn(SAID, done.stderr.decode())

    def test_what_was_stored_without_debug_info_gives_way_to_what_has_it(self):
        whole = self.path("whole")
        shutil.copy(self.program, whole)
        subprocess.run(["strip", "--strip-debug", self.program], check=True)
        self.profile([self.program], ["--symbolize"])
        self.assertNotIn("leaky_service.cc", self.memprof("table", self.path("x.memprof")))
        shutil.copy(whole, self.program)  # the build-id is the same
        self.assertRegex(self.memprof("table", self.path("x.memprof")), r"leaky_service\.cc:\d+")
        self.memprof("symbolize", self.path("x.memprof"))
        os.unlink(self.program)
        self.assertRegex(self.memprof("table", self.path("x.memprof")), r"leaky_service\.cc:\d+")
        self.memprof("symbolize", self.path("x.memprof"))  # on a machine that has nothing
        self.assertRegex(self.memprof("table", self.path("x.memprof")), r"leaky_service\.cc:\d+")

    def test_the_output_is_a_file_of_its_own_and_nothing_is_overwritten(self):
        self.profile([self.program])
        with open(self.path("x.memprof"), "rb") as file:
            before = file.read()
        self.memprof("symbolize", self.path("x.memprof"), "-o", self.path("y.memprof"))
        with open(self.path("x.memprof"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.memprof("symbolize", self.path("x.memprof"), "-o", self.path("y.memprof"), status=2)
        self.assertEqual(os.stat(self.path("y.memprof")).st_mode & 0o777, 0o600)
        self.memprof("symbolize", "-f", self.path("x.memprof"), "-o", self.path("y.memprof"))
        self.memprof("symbolize", self.path("x.memprof"))
        with open(self.path("x.memprof"), "rb") as x, open(self.path("y.memprof"), "rb") as y:
            self.assertEqual(x.read(), y.read())

    def test_what_is_no_whole_capture_is_refused_and_left_alone(self):
        self.profile([self.program])
        with open(self.path("x.memprof"), "rb") as file:
            whole = file.read()
        for content, says in ((whole[:-1], "damaged"), (b"text", "not a capture"), (b"", "")):
            with open(self.path("bad"), "wb") as file:
                file.write(content)
            done = harness.run([harness.MEMPROF, "symbolize", self.path("bad")])
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr.decode(), r"^memprof: .*bad.*" + says + ".*\n$")
            with open(self.path("bad"), "rb") as file:
                self.assertEqual(file.read(), content)
        self.memprof("symbolize", self.path("nowhere"), status=3)

    def test_a_region_gives_a_capture_under_another_name(self):
        self.profile([self.program], ["--region", self.path("x.region")])
        done = harness.run([harness.MEMPROF, "symbolize", self.path("x.region")])
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), "^memprof: .* name the capture with -o\n$")
        self.memprof("symbolize", self.path("x.region"), "-o", self.path("y.memprof"))
        os.unlink(self.program)
        self.assertIn("RememberUser", self.memprof("table", "--leaks", self.path("y.memprof")))

    def test_images_before_an_exec_get_their_symbols_too(self):
        shutil.copy(EXEC_SELF, self.path("again"))
        self.profile([self.path("again")], ["--symbolize"])
        captures = [name for name in os.listdir(self.directory) if name.endswith(".memprof")]
        self.assertGreater(len(captures), 1)
        os.unlink(self.path("again"))
        for capture in captures:
            self.assertRegex(self.memprof("table", self.path(capture)), r"exec_self\.c:\d+")

    def test_symbols_keep_a_capture_tiny(self):
        self.profile([self.program])
        without = os.path.getsize(self.path("x.memprof"))
        self.memprof("symbolize", self.path("x.memprof"))
        self.assertLess(os.path.getsize(self.path("x.memprof")), without + 4096)

    def folder_of_sources(self):
        """As the debug info has it; a compiler cache may have it from another folder."""
        text = self.memprof("transform", "json", self.path("x.memprof"))
        return re.search(r'"file": "(/[^"]*)/leaky_service\.cc"', text).group(1)

    def test_paths_are_mapped_in_every_report(self):
        self.profile([self.program])
        capture = self.path("x.memprof")
        sources = self.folder_of_sources()

        def json_files(*options):
            text = self.memprof("transform", "json", *options, capture)
            return set(re.findall(r'"file": "([^"]*leaky_service\.cc)"', text))

        self.assertEqual(json_files(), {sources + "/leaky_service.cc"})
        self.assertEqual(json_files("--path-map", f"{sources}=/home/me"),
                         {"/home/me/leaky_service.cc"})
        self.assertEqual(json_files(f"--path-map={sources}/="), {"leaky_service.cc"})
        self.assertEqual(json_files("--path-map", f"{sources[:-1]}=/x"),
                         {sources + "/leaky_service.cc"})
        self.assertEqual(json_files("--path-map", "/nowhere=", "--path-map", f"{sources}=/a",
                                    "--path-map", f"{sources}=/b"), {"/a/leaky_service.cc"})
        csv = self.memprof("transform", "csv", "--path-map", f"{sources}=/mapped", capture)
        self.assertIn("/mapped/leaky_service.cc", csv)
        self.assertNotIn(sources, csv)
        for report in (["summary"], ["table"], ["tree"]):
            self.memprof(*report, "--path-map", f"{sources}=/mapped", capture)
        page = self.path("mapped.html")
        self.memprof("flamegraph", "--path-map", f"{sources}=/mapped", capture, "-o", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("/mapped/leaky_service.cc", text)
        self.assertNotIn(sources, text)

    def test_paths_can_be_stored_as_mapped(self):
        self.profile([self.program])
        sources = self.folder_of_sources()
        self.profile([self.program], ["--symbolize", "--path-map", f"{sources}="])
        text = self.memprof("transform", "json", self.path("x.memprof"))
        self.assertIn('"file": "leaky_service.cc"', text)
        self.assertNotIn(sources, text)

    def test_mappings_that_are_none_are_refused_in_one_line(self):
        self.profile([self.program])
        for report in (["summary"], ["table"], ["tree"], ["flamegraph"], ["symbolize"],
                       ["transform", "json"]):
            for rule in ("/build", "=", "=/x"):
                done = harness.run(
                    [harness.MEMPROF, *report, f"--path-map={rule}", self.path("x.memprof")])
                self.assertEqual(done.returncode, 2, report)
                self.assertRegex(done.stderr.decode(), r"^memprof: .*path-map.*\n$")
        done = harness.run([harness.MEMPROF, "run", "--path-map", "x", self.program])
        self.assertEqual(done.returncode, 125)
        done = harness.run([harness.MEMPROF, "run", "--path-map", "/a=/b", self.program])
        self.assertEqual(done.returncode, 125)
        self.assertIn("--symbolize", done.stderr.decode())


if __name__ == "__main__":
    unittest.main(verbosity=2)
