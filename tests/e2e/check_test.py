#!/usr/bin/python3
"""memprof check, memprof budget init and run --budget: statuses, formats, and a planted regression
(../programs/two_builds.c) that is named on one screen."""
import json
import os
import re
import shutil
import unittest
from xml.etree import ElementTree

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = ("text", "json", "junit", "github", "markdown", "gitlab", "sarif")
SCREEN = 24  # lines


class CheckTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        for build in ("old", "new"):
            self.profile([os.path.join(harness.PROGRAMS, "two_builds_" + build)])
            os.rename(self.path("x.memprof"), self.path(build))
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("GITHUB_", "CI_"))}

    def budget(self, text, name="memprof.toml"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def check(self, *arguments, **options):
        options.setdefault("env", self.environment)
        done = harness.run([harness.MEMPROF, "check", *arguments], cwd=self.directory, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_a_planted_regression_is_named_on_one_screen(self):
        budget = self.budget('[budget]\npeak = ["+5%", "+4 KiB"]\nleaked = "+4 KiB"\n')
        self.assertEqual(self.check("old", "--budget", budget, "--baseline", "old")[0], 0)
        status, text, _ = self.check("new", "--budget", budget, "--baseline", "old",
                                     env=dict(self.environment, COLUMNS="80"))
        self.assertEqual(status, 1)
        lines = text.splitlines()
        self.assertLessEqual(len(lines), SCREEN, text)
        self.assertLessEqual(max(map(len, lines)), 80, text)
        self.assertRegex(lines[0], r"^new \(two_builds_new\): over budget in 2 checks")
        self.assertRegex(text, r"(?m)^ +58\.6 KiB +\d+\.\d% +\+48\.8 KiB +CacheReply +two_builds\.c:\d+$")
        self.assertRegex(text, r"(?m)^ +← Serve ← Connect ← main$")

    def test_the_statuses_tell_within_over_bad_budget_and_unreadable(self):
        peak = self.stats("old")["peak"]["bytes"]
        equal = self.budget(f"[budget]\npeak = {peak}\n", "equal.toml")
        less = self.budget(f"[budget]\npeak = {peak - 1}\n", "less.toml")
        bad = self.budget("[budget]\n\n  peek = 1\n", "bad.toml")
        self.assertEqual(self.check("old", "--budget", equal)[0], 0)
        self.assertEqual(self.check("old", "--budget", less)[0], 1)
        status, _, error = self.check("old", "--budget", bad)
        self.assertEqual(status, 2)
        self.assertEqual(error, "memprof: bad.toml:3:3: there is no 'peek' in [budget]; "
                                "did you mean 'peak'?\n")
        for arguments in (("old", "--budget", "nowhere.toml"), ("old", "--budget", "."), ("old",),
                          ("old", "--budget", equal, "--format", "html"),
                          ("old", "--budget", equal, "--today", "tomorrow"),
                          ("--budget", equal), ("old", "--budget", equal, "-o", "old")):
            self.assertEqual(self.check(*arguments)[0], 2, arguments)
        for arguments in (("nowhere", "--budget", equal), (equal, "--budget", equal),
                          ("old", "--budget", equal, "--baseline", "nowhere"),
                          ("old", "nowhere", "--budget", less)):
            self.assertEqual(self.check(*arguments)[0], 3, arguments)

    def test_a_damaged_capture_has_no_verdict(self):
        budget = self.budget("[budget]\npeak = 1000000000\n")
        with open(self.path("old"), "rb") as file:
            whole = file.read()
        with open(self.path("cut"), "wb") as file:
            file.write(whole[:-1])
        self.memprof("summary", "cut")  # that much can be read
        for arguments in (("cut",), ("old", "cut"), ("old", "--baseline", "cut")):
            status, _, error = self.check(*arguments, "--budget", budget)
            self.assertEqual(status, 3, arguments)
            self.assertIn("damaged", error)

    def test_each_of_several_captures_is_checked(self):
        old, new = (self.stats(name)["peak"]["bytes"] for name in ("old", "new"))
        self.assertLess(old, new)
        budget = self.budget(f"[budget]\npeak = {old}\n")
        status, text, _ = self.check("old", "new", "--budget", budget, "--format", "json")
        self.assertEqual(status, 1)
        self.assertEqual([c["status"] for c in json.loads(text)["captures"]], ["within", "over"])
        # One that can't be read hides nothing of the others.
        status, text, error = self.check("nowhere", "new", "--budget", budget, "--format", "json")
        self.assertEqual(status, 3)
        self.assertEqual([c["status"] for c in json.loads(text)["captures"]],
                         ["unreadable", "over"])
        self.assertIn("nowhere", error)

    def test_a_suppression_expires_by_the_day(self):
        budget = self.budget('[budget]\nleaked = 0\n[[budget.suppress]]\nfunction = "main"\n'
                             'reason = "ticket 7"\nexpires = 2030-06-30\n')
        on = lambda day: self.check("old", "--budget", budget, "--today", day)
        self.assertEqual(on("2030-06-30")[0], 0)
        status, text, _ = on("2030-07-01")
        self.assertEqual(status, 1)
        self.assertIn("expired after 2030-06-30 (ticket 7)", text)
        self.assertRegex(text, "over  the program: leaked ")

    def all_formats(self):
        """A report with all there can be: over, within, not judged, expired, unreadable."""
        budget = self.budget('[budget]\npeak = 1\nallocations = 100000\npeak_rss = "+5%"\n'
                             '[[budget.match]]\nfunction = "CacheReply"\nname = "<cache> & \\"co\\""\n'
                             'leaked = 1\n'
                             '[[budget.match]]\nfunction = "Nobody"\nrequired = true\n'
                             '[[budget.suppress]]\nfunction = "x"\nreason = "r"\n'
                             'expires = 2020-01-01\n')
        for form in FORMATS:
            status, _, _ = self.check("new", "nowhere", "old", "--budget", budget, "--format", form,
                                      "-o", "report." + form)
            self.assertEqual(status, 3)

    def test_junit_is_valid_by_its_schema(self):
        xmllint = shutil.which("xmllint")
        self.assertIsNotNone(xmllint, "libxml2-utils is in ./dev's list")
        self.all_formats()
        valid = lambda file: harness.run([xmllint, "--noout", "--schema",
                                          os.path.join(HERE, "junit.xsd"), self.path(file)])
        done = valid("report.junit")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        # The schema does refuse: a count that is none.
        with open(self.path("report.junit"), encoding="utf-8") as file:
            text = file.read()
        with open(self.path("broken"), "w", encoding="utf-8") as file:
            file.write(re.sub(r'tests="\d+"', 'tests="many"', text, 1))
        self.assertNotEqual(valid("broken").returncode, 0)

        root = ElementTree.fromstring(text)
        suites = root.findall("testsuite")
        self.assertEqual([suite.get("name") for suite in suites], ["new", "nowhere", "old"])
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            self.assertEqual(int(root.get(count)), len(list(root.iter(tag))))
            for suite in suites:
                self.assertEqual(int(suite.get(count)), len(list(suite.iter(tag))))
        self.assertEqual(len(list(root.iter("skipped"))), 2)
        names = [case.get("name") for case in suites[0].iter("testcase")]
        self.assertIn('<cache> & "co": leaked', names)

    def test_sarif_is_valid_by_its_schema(self):
        node = shutil.which("node") or shutil.which("nodejs")
        self.assertIsNotNone(node)
        self.all_formats()
        validate = lambda file: harness.run(
            [node, os.path.join(HERE, "validate_sarif.mjs"), "--modules",
             os.path.join(harness.BUILD, "cli", "web", "page", "node_modules"), self.path(file)])
        done = validate("report.sarif")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        with open(self.path("report.sarif"), encoding="utf-8") as file:
            sarif = json.load(file)
        results = sarif["runs"][0]["results"]
        self.assertEqual({result["ruleId"] for result in results},
                         {"peak", "leaked", "required-match", "expired-suppression"})
        rules = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
        self.assertLessEqual({result["ruleId"] for result in results}, rules)
        # The schema does refuse: a result without a message.
        del results[0]["message"]
        with open(self.path("broken"), "w", encoding="utf-8") as file:
            json.dump(sarif, file)
        self.assertNotEqual(validate("broken").returncode, 0)

    def test_gitlabs_fingerprints_are_of_the_finding_not_of_the_build(self):
        budget = self.budget('[budget]\nleaked = 1\n[[budget.match]]\nfunction = "Remember"\n'
                             'peak = 1\n')

        def issues(*captures):
            status, text, _ = self.check(*captures, "--budget", budget, "--format", "gitlab")
            self.assertEqual(status, 1)
            return json.loads(text)

        # Two files of the name of one program, whose lines and addresses all differ.
        for build in ("old", "new"):
            os.mkdir(self.path(build + ".d"))
            shutil.copy(os.path.join(harness.PROGRAMS, "two_builds_" + build),
                        self.path(build + ".d/service"))
            self.profile([self.path(build + ".d/service")])
            os.rename(self.path("x.memprof"), self.path(build))
        prints = lambda found: {i["description"].split(":")[0]: i["fingerprint"] for i in found}
        old, new = prints(issues("old")), prints(issues("new"))
        self.assertEqual(old["function Remember"], new["function Remember"])
        twice = issues("old", "old")
        self.assertEqual(len({issue["fingerprint"] for issue in twice}), len(twice))
        for issue in twice:
            self.assertEqual(set(issue), {"description", "check_name", "fingerprint", "severity",
                                          "location"})
            self.assertGreaterEqual(issue["location"]["lines"]["begin"], 1)

    def test_github_has_annotations_and_the_steps_summary(self):
        budget = self.budget('[budget]\npeak = 1\nleaked = 1\n')
        with open(self.path("summary.md"), "w", encoding="utf-8") as file:
            file.write("# before\n")
        # The checkout is where the program's sources were when it was compiled.
        found = json.loads(self.check("new", "--budget", budget, "--format", "json")[1])
        sources = os.path.dirname(found["captures"][0]["checks"][0]["stacks"][0]["file"])
        environment = dict(self.environment, GITHUB_STEP_SUMMARY=self.path("summary.md"),
                           GITHUB_WORKSPACE=sources)
        status, text, _ = self.check("new", "--budget", budget, "--format", "github",
                                     env=environment)
        self.assertEqual(status, 1)
        lines = text.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^::error file=two_builds\.c,line=\d+,title=memprof%3A the "
                                   r"program%3A (peak|leaked)::.*CacheReply")
        with open(self.path("summary.md"), encoding="utf-8") as file:
            summary = file.read()
        self.assertTrue(summary.startswith("# before\n## memprof: over budget\n"))
        self.assertIn("CacheReply", summary)
        self.assertLess(len(summary), 1 << 20)

    def test_init_writes_a_budget_that_its_capture_is_within(self):
        text = self.memprof("budget", "init", "new")
        self.assertIn('function = "CacheReply"', text)
        self.memprof("budget", "init", "new", "-o", "memprof.toml")
        with open(self.path("memprof.toml"), encoding="utf-8") as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(self.check("new", "--budget", "memprof.toml")[0], 0)
        self.memprof("budget", "init", "new", "-o", "memprof.toml", status=2)
        self.memprof("budget", "init", "nowhere", status=3)
        self.memprof("budget", status=2)

    def run_with(self, budget, *command, flags=()):
        done = self.profile(command, flags=["--budget", budget, *flags])
        return done.returncode, done.stderr.decode().splitlines()

    def test_run_checks_at_the_end(self):
        program = os.path.join(harness.PROGRAMS, "leaky_service")
        over = self.budget("[budget]\nleaked = 0\n", "over.toml")
        fine = self.budget('[budget]\nleaked = "1 MiB"\n', "fine.toml")
        self.assertEqual(self.run_with(fine, program), (0, []))
        status, lines = self.run_with(over, program)
        self.assertEqual(status, 1)
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[-1], r"^memprof: over budget: the program: leaked 244\.1 KiB, .*"
                                    r"RememberUser")
        # Not quiet: the report comes before.
        done = self.bare([harness.MEMPROF, "run", "-f", "-o", "x.memprof", "--budget", over,
                          program])
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        lines = done.stderr.decode().splitlines()
        self.assertLessEqual(len(lines), SCREEN)
        self.assertRegex("\n".join(lines), r"(?m)^over  the program: leaked 244\.1 KiB")
        self.assertTrue(lines[-1].startswith("memprof: over budget: "))

    def test_run_summary_and_check_agree_on_what_the_runtime_keeps(self):
        with open(self.path("greets.cc"), "w", encoding="ascii") as source:
            source.write('#include <iostream>\nint main() { std::cout << "hello\\n"; }\n')
        harness.run(["g++", "-o", self.path("greets"), self.path("greets.cc")], check=True)
        done = self.bare([harness.MEMPROF, "run", "-o", "x.memprof", "./greets"])
        said = re.search(r"leaked ([0-9.]+ KiB) in (\d allocations?), all of it kept by design by the "
                         r"runtime,", done.stderr.decode())
        self.assertTrue(said, done.stderr)
        self.assertRegex(self.memprof("summary", "x.memprof"),
                         rf"leaked  {said[1]} \([0-9,]+ B\) in {said[2]}, all of it kept by design by the "
                         r"runtime\n")
        none = self.budget("[budget]\nleaked = 0\nleaked_allocations = 0\n", "none.toml")
        self.assertIn(f"{said[1]} more is kept by design by the runtime",
                      self.memprof("check", "x.memprof", "--budget", none))

    def test_runs_status_is_the_programs_unless_the_budget_decides(self):
        exits = os.path.join(harness.PROGRAMS, "leaky_service")
        over = self.budget("[budget]\nallocations = 0\n", "over.toml")
        fine = self.budget('[budget]\nallocations = 1000000\n', "fine.toml")
        decides = ["--exit-status=budget"]
        fails = ["sh", "-c", f"{exits}; exit 7"]
        killed = ["sh", "-c", f"{exits}; kill -TERM $$"]
        self.assertEqual(self.run_with(over, *fails)[0], 7)
        self.assertEqual(self.run_with(over, *killed)[0], 128 + 15)
        for command in (fails, killed):
            self.assertEqual(self.run_with(fine, *command, flags=decides), (0, []))
            status, lines = self.run_with(over, *command, flags=decides)
            self.assertEqual(status, 1)
            self.assertTrue(lines[-1].startswith("memprof: over budget: "), lines)
        # No capture, no verdict: the program ends without its tracker.
        lost = ["sh", "-c", "unset LD_PRELOAD; exec sh -c 'exit 0'"]
        self.assertEqual(self.run_with(fine, *lost, flags=decides)[0], 0)  # the first sh's

    def test_runs_budget_is_of_the_tree_the_program_or_each(self):
        with open(self.path("b.toml"), "w", encoding="ascii") as file:
            file.write('[budget]\nallocated = "3 MiB"\n')
        # The shell is small, a child has 4 MiB, and another has 2.
        hog = os.path.join(self.directory, "hog")
        with open(hog + ".c", "w", encoding="ascii") as file:
            file.write("#include <stdlib.h>\nint main(int c, char** v) {\n"
                       "  void* volatile p = malloc(atoi(v[1])); free(p); return c == 9; }\n")
        self.assertEqual(self.bare(["gcc", "-O0", "-o", hog, hog + ".c"]).returncode, 0)
        both = ["sh", "-c", f"{hog} {4 << 20}; {hog} {2 << 20}; exit 0"]
        small = ["sh", "-c", f"{hog} {2 << 20}; {hog} {2 << 20}; exit 0"]
        for of, command, status, says, left in (
                ((), both, 1, "judged: the whole tree (the program and 2 children)", 2),
                ((), small, 1, "judged: the whole tree (the program and 2 children)", 2),
                (("--budget-of", "tree"), [hog, "5"], 0, "the program, which had no children", 1),
                (("--budget-of", "program"), both, 0, "judged: the program alone", 2),
                (("--budget-of", "each"), small, 0, "judged: each of 3 captures", 2),
                (("--budget-of", "each"), both, 1, "judged: each of 3 captures", 3)):
            with self.subTest(of=of, command=command):
                for name in os.listdir(self.directory):
                    if name.startswith("x."):
                        os.unlink(self.path(name))
                done = harness.run([harness.MEMPROF, "run", "-f", "-o", self.path("x.memprof"),
                                    "--budget", self.path("b.toml"), *of, "--", *command],
                                   cwd=self.directory)
                self.assertEqual(done.returncode, status, done.stderr.decode())
                last = done.stderr.decode().splitlines()[-1]
                self.assertIn(says, last)
                self.assertEqual(len([n for n in os.listdir(self.directory)
                                      if n.startswith("x.")]), left)

    def test_a_folder_of_kept_captures_is_a_baseline(self):
        with open(self.path("b.toml"), "w", encoding="ascii") as file:
            file.write('[budget]\npeak = "+5%"\n')
        os.mkdir(self.path("kept"))
        check = ["check", "--format", "json", "--budget", "b.toml", "--baseline", "kept"]
        first = json.loads(self.memprof(*check, "old"))  # the first night
        self.assertEqual(first["captures"][0]["checks"][0]["status"], "not judged")
        self.assertIsNone(first["baseline"])
        for name in ("a.memprof", "b.memprof"):
            shutil.copy(self.path("old"), self.path("kept/" + name))
        with open(self.path("kept/broken.memprof"), "w", encoding="ascii") as file:
            file.write("no capture")
        self.memprof(*check, "old")
        over = json.loads(self.memprof(*check, "new", status=1))
        self.assertEqual(over["baseline"], "kept")
        self.assertTrue(any("left out of the baselines" in note
                            for note in over["captures"][0]["notes"]))
        self.memprof("check", "--budget", "b.toml", "--baseline", "old", "--baseline", "new", "new",
                     status=1)

    def test_a_bad_budget_is_found_before_the_program_starts(self):
        bad = self.budget("[budget]\npeek = 1\n", "bad.toml")
        fine = self.budget("[budget]\npeak = 1\n", "fine.toml")
        for flags in (["--budget", bad], ["--budget", "nowhere.toml"],
                      ["--budget", fine, "--baseline", "nowhere"], ["--baseline", "old"],
                      ["--exit-status=budget"], ["--budget", fine, "--exit-status=mine"]):
            done = self.profile(["touch", self.path("started")], flags=flags)
            self.assertEqual(done.returncode, 125, flags)
            self.assertTrue(done.stderr.startswith(b"memprof: "), done.stderr)
            self.assertFalse(os.path.exists(self.path("started")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
