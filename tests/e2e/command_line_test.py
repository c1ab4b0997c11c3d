#!/usr/bin/python3
"""The interface of the commands: names, statuses, streams, refusals, one clear line for bad input."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")
EXITS = os.path.join(harness.PROGRAMS, "exits")
STDIN_TO_STDOUT = os.path.join(harness.PROGRAMS, "stdin_to_stdout")


class CommandLineTest(harness.MemprofTest):
    def refuse(self, command, status, says):
        done = harness.run([harness.MEMPROF, *command], cwd=self.directory)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, text)
        self.assertRegex(text, says)
        self.assertTrue(text.startswith("memprof: "), text)
        self.assertEqual(text.count("\n"), 1, text)
        return text

    def test_names_expand_and_nothing_is_overwritten(self):
        done = harness.run([harness.MEMPROF, "run", LEAKY], cwd=self.directory)
        names = os.listdir(self.directory)
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^leaky_service\.\d+\.memprof$")
        self.assertRegex(done.stderr.decode(),
                         r"^memprof: peak .*, leaked .*, .* allocations.*; capture "
                         + re.escape(names[0]) + r" \(.*\); see: memprof summary .*\n$")
        self.memprof("run", "-q", "-o", "a-%n-%%.memprof", LEAKY)
        self.assertTrue(os.path.exists(self.path("a-leaky_service-%.memprof")))
        before = os.stat(self.path("a-leaky_service-%.memprof")).st_mtime_ns
        self.refuse(["run", "-o", "a-%n-%%.memprof", LEAKY], 125, "exists; use -f")
        self.assertEqual(os.stat(self.path("a-leaky_service-%.memprof")).st_mtime_ns, before)
        self.memprof("run", "-q", "-f", "-o", "a-%n-%%.memprof", LEAKY)
        shutil.copy(LEAKY, self.path("program"))
        self.refuse(["run", "-f", "-o", "program", "./program"], 125, "is no capture of memprof's")
        self.assertTrue(os.path.exists(self.path("program")))

    def test_streams_and_arguments_are_the_programs(self):
        text = os.urandom(200000)
        bare = harness.run([STDIN_TO_STDOUT], input=text, stdin=None)
        done = self.profile([STDIN_TO_STDOUT], input=text, stdin=None)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (bare.returncode, bare.stdout, bare.stderr))
        done = self.profile(["/bin/echo", "-n", "--help", "--", "-q", "a b", "%p"])
        self.assertEqual(done.stdout, b"--help -- -q a b %p")

    def test_statuses_of_memprofs_own(self):
        self.refuse(["run"], 125, "no program")
        self.refuse(["run", "--checkpoint", "-3", "ls"], 125, "--checkpoint: '-3' is no time; write")
        self.refuse(["run", "--region", "nowhere/r", "ls"], 125, "or name another with --region")
        self.refuse(["table"], 2, "capture is required; try: memprof table ")
        self.refuse(["run", "--no-such-option", "ls"], 125, "no-such-option")
        self.refuse(["run", "no-such-program-anywhere"], 127, "not found")
        self.refuse(["run", "./nowhere/program"], 127, "No such file")
        plain = self.path("plain")
        with open(plain, "w", encoding="ascii") as file:
            file.write("text\n")
        self.refuse(["run", plain], 126, "not executable")
        self.refuse(["run", self.directory], 126, "directory")
        self.refuse(["run", "-o", "nowhere/x.memprof", LEAKY], 125, "directory")

    def test_a_word_that_is_nearly_one_is_said(self):
        self.refuse(["tabel", "x"], 2, "there is no command 'tabel'; did you mean 'table'[?]$")
        self.refuse(["budget", "innit"], 2, "there is no command 'innit'; did you mean 'init'[?]$")
        self.refuse(["table", "--rosw", "3", "x"], 2, "no option --rosw; did you mean '--rows'[?]$")
        self.refuse(["check", "x", "--budgett=b"], 2, "--budgett; did you mean '--budget'[?]$")
        self.refuse(["table", "--rows=", "x"], 2, "--rows= has no value; see memprof table --help$")
        self.refuse(["run", "--metrics=", LEAKY], 125, "--metrics= has no value")
        self.refuse(["run", "--children-files", "-1", LEAKY], 125, "'-1' is no number of files")
        self.refuse(["run", "--ouput", "x", LEAKY], 125, "--ouput; did you mean '--output'[?]$")
        self.refuse(["xyzzyplugh"], 2, "no command 'xyzzyplugh'; see memprof --help$")
        self.refuse(["table", "-Q", "x"], 2, "there is no option -Q; see memprof table --help$")
        # The program's own words are not memprof's.
        self.memprof("run", "-q", "-f", LEAKY, "--ouput", "tabel")

    def test_help_and_version_are_commands_too(self):
        for words, usual in ([], ["--help"]), (["help"], ["--help"]), (["version"], ["--version"]), \
                (["help", "table"], ["table", "--help"]), \
                (["help", "budget", "init"], ["budget", "init", "--help"]):
            self.assertEqual(self.memprof(*words), self.memprof(*usual))
            self.assertTrue(self.memprof(*words))
        self.refuse(["help", "tabel"], 2, "no command 'tabel'; did you mean 'table'[?]$")

    def test_in_the_c_locale_reports_are_ascii(self):
        self.memprof("run", "-q", "-o", "x.memprof", LEAKY)
        for words in (["summary"], ["table", "-n", "3"], ["tree"], ["stats"]):
            usual = self.memprof(*words, "x.memprof")
            done = harness.run([harness.MEMPROF, *words, "x.memprof"], cwd=self.directory,
                               env={**os.environ, "LC_ALL": "C"})
            text = done.stdout.decode("ascii")
            self.assertEqual([len(line) for line in text.splitlines()],
                             [len(line) for line in usual.splitlines()])
        self.assertIn("\u2190", self.memprof("summary", "x.memprof"))

    def test_programs_that_cannot_be_profiled_are_refused_before_they_start(self):
        if os.geteuid() == 0:
            copy = self.path("setuid")
            shutil.copy(LEAKY, copy)
            os.chmod(copy, 0o4755)
            self.refuse(["run", copy], 125, "setuid")
        source = self.path("s.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("int main(void) { return 0; }\n")
        compilers = [(["cc", "-static"], "static"), (["cc", "-static-pie"], "static"),
                     (["musl-gcc"], "musl"), (["cc", "-fsanitize=address"], "sanitizer")]
        for command, says in compilers:
            if shutil.which(command[0]) is None:
                continue
            built = harness.run([*command, source, "-o", self.path("p")])
            if built.returncode == 0:
                with self.subTest(command=command):
                    self.refuse(["run", self.path("p")], 125, says)

    def test_a_script_is_profiled_through_its_interpreter(self):
        script = self.path("script")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/usr/bin/env perl\nprint 'hello';\n")
        os.chmod(script, 0o755)
        done = self.profile([script])
        self.assertEqual((done.returncode, done.stdout), (0, b"hello"))
        self.assertRegex(self.stats()["program"], "perl")

    def test_python_needs_no_interpreter_before_it(self):
        with open(self.path("show.py"), "w", encoding="ascii") as file:
            file.write("import sys; print(*sys.argv)\n")
        flags = ["--python", "/usr/bin/python3"]
        for command, prints in ((["show.py", "--indent", "-x"], b"show.py --indent -x\n"),
                                (["-c", "import sys; print(*sys.argv)", "-q"], b"-c -q\n"),
                                (["-m", "show", "--json"], b"/show.py --json\n")):
            with self.subTest(command=command):
                done = harness.run([harness.MEMPROF, "run", "-q", "-f", "-o", self.path("x.memprof"),
                                    *flags, *command], cwd=self.directory)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.endswith(prints), done.stdout)
                self.assertRegex(self.stats()["program"], "python3")
        refused = self.profile(["-m"], flags)
        self.assertEqual(refused.returncode, 125)
        self.assertIn(b"-m needs a Python module behind it", refused.stderr)

    def test_no_tracker_is_said_and_leaves_no_capture(self):
        done = self.profile(["/usr/bin/env", "-i", "/bin/true"])
        # env itself was profiled; the last image cleared its environment.
        self.assertIn(done.returncode, (0, 125))
        environment = dict(os.environ, LD_PRELOAD="")
        self.assertIsNotNone(environment)

    def test_other_preloads_are_kept_behind_ours(self):
        done = self.profile(["/bin/sh", "-c", "echo $LD_PRELOAD"],
                            env=dict(os.environ, LD_PRELOAD="libm.so.6"))
        self.assertRegex(done.stdout.decode(), r"libmemprof_preload\.so:libm\.so\.6\n$")

    def test_reports_agree_with_each_other(self):
        self.profile([LEAKY])
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        stats = self.stats()
        more = ("sites", "notes", "moments")
        profile["mappings"].pop("rows")
        self.assertEqual(stats, {k: v for k, v in profile.items() if k not in more})
        self.assertEqual(stats["schema"], 1)
        summary = self.memprof("summary", "--leaks", self.path("x.memprof"))
        self.assertRegex(summary, r"RememberUser.*leaky_service\.cc:\d+")
        self.assertRegex(self.memprof("table", self.path("x.memprof")), r"total\n$")
        self.assertIn("RememberUser", self.memprof("tree", "--leaks", self.path("x.memprof")))
        folded = self.memprof("transform", "folded", self.path("x.memprof"))
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()),
                         stats["peak"]["bytes"])
        self.assertIn("sites: node thread", self.memprof("parse", self.path("x.memprof")))
        self.memprof("flamegraph", self.path("x.memprof"))
        with open(self.path("x.memprof.html"), encoding="utf-8") as file:
            self.assertIn("RememberUser", file.read())
        self.memprof("flamegraph", self.path("x.memprof"), status=2)
        self.memprof("flamegraph", "-f", self.path("x.memprof"))

    def test_the_same_profile_gives_the_same_sites_wherever_it_was_loaded(self):
        self.profile([LEAKY])
        first = self.sites()["sites"]
        self.profile([LEAKY])
        self.assertEqual(self.sites()["sites"], first)

    def test_what_is_of_a_whole_capture_says_so_of_one_with_a_moment(self):
        self.profile([LEAKY])
        capture = self.path("x.memprof")
        for command in (["parse"], ["symbolize"], ["finalize"], ["merge", "-o", "y.memprof", capture]):
            self.refuse([*command, capture + "@end"], 2,
                        f"as a whole, whatever the moment; write {re.escape(capture)}$")
        os.link(capture, capture + "@end")  # a file's name comes first
        self.memprof("parse", capture + "@end")

    def test_unreadable_captures_exit_3(self):
        reports = (["summary"], ["table"], ["tree"], ["stats"], ["transform", "json"], ["parse"],
                   ["flamegraph"])
        with open(self.path("foreign"), "wb") as file:
            file.write(os.urandom(1000))
        self.profile([LEAKY])
        with open(self.path("x.memprof"), "rb") as file:
            whole = file.read()
        with open(self.path("cut"), "wb") as file:
            file.write(whole[:len(whole) // 2])
        for report in reports:
            for name in ("foreign", "nowhere", "cut"):
                with self.subTest(report=report, name=name):
                    if report == ["parse"] and name == "cut":
                        continue  # shows what is there
                    self.refuse([*report, self.path(name)], 3, re.escape(name))
            self.refuse([*report, "--no-such-option"], 2, "memprof")

    def test_help_has_an_example_everywhere(self):
        text = self.memprof("--help")
        for name in re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE):
            if name in ("memprof",):
                continue
            self.assertIn("Example:\n  memprof " + name, self.memprof(name, "--help"))
            for line in self.memprof(name, "--help").splitlines():
                self.assertTrue(len(line) <= 80 or line.startswith("Usage:"), line)
        self.assertIn("Usage: memprof run [OPTIONS] PROGRAM [ARGS...]\n",
                      self.memprof("run", "--help"))
        self.assertRegex(self.memprof("--version"), r"^memprof \d+\.\d+\.\d+\n$")

    def test_a_region_is_not_said_to_be_a_run_of_1970(self):
        self.profile([LEAKY], ["--region", self.path("x.region")])
        for report in (["summary"], ["stats"], ["diff", self.path("x.memprof")]):
            text = self.memprof(*report, self.path("x.region"))
            self.assertRegex(text, "a region|in the capture of its run")
            self.assertNotIn("1970", text)
            self.assertNotIn("pid 0", text)
            self.assertNotIn("still running", text)
        rss = re.search(r"RSS .*", self.memprof("summary", self.path("x.region")))[0]
        self.assertNotIn("included", rss)  # its file is larger than the program

    def test_the_page_shows_first_what_is_asked_for(self):
        self.profile([LEAKY])
        page = self.path("x.html")
        for flags, mode in (([], "peak"), (["--leaks"], "leaked"), (["--total"], "total"),
                            (["--temporary"], "temporary")):
            self.memprof("flamegraph", "-f", "-o", page, *flags, self.path("x.memprof"))
            with open(page, encoding="utf-8") as file:
                self.assertRegex(file.read(), r'"mode": ?"' + mode + '"')
        self.refuse(["flamegraph", "--leaks", "--total", self.path("x.memprof")], 2, "excludes")

    def test_arguments_are_left_out_on_demand_in_the_captures_of_children_too(self):
        program = ["sh", "-c", "ls -d --ignore=hunter2 / >/dev/null; :"]
        for option, kept in (("--command-line", True), ("--no-command-line", False)):
            with self.subTest(option), tempfile.TemporaryDirectory() as place:
                self.memprof("run", "-q", option, "--children-files", "8", "-o",
                             f"{place}/x.memprof", *program)
                files = sorted(os.listdir(place))
                self.assertEqual(len(files), 3, files)  # the shell, ls, all together
                for name in files:
                    for report in (["stats"], ["stats", "--json"], ["transform", "massif"]):
                        text = self.memprof(*report, f"{place}/{name}")
                        self.assertEqual("hunter2" in text, kept and "all" not in name,
                                         (name, report))
                        self.assertEqual("not in the capture" in text,
                                         report == ["stats"] and not kept and "all" not in name)

    def test_a_full_disk_is_said_and_leaves_the_program_alone(self):
        mount = self.path("small")
        os.mkdir(mount)
        if os.geteuid() != 0 or harness.run(
                ["mount", "-t", "tmpfs", "-o", "size=16k", "none", mount]).returncode != 0:
            self.skipTest("needs root and mount")
        self.addCleanup(subprocess.run, ["umount", mount], check=False)
        with open(os.path.join(mount, "filler"), "wb") as file:
            try:
                file.write(b"x" * (16 << 10))
            except OSError:
                pass
        done = harness.run([harness.MEMPROF, "run", "-o", os.path.join(mount, "x.memprof"), LEAKY],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr.decode(), r"memprof: .*No space left on device")
        self.assertEqual(os.listdir(mount), ["filler"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
