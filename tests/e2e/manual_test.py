#!/usr/bin/python3
"""memprof manual: the man page is clean and has every option; each shell completes what it should."""
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from harness import MEMPROF, MemprofTest, run

# The typed text, and the last word that it becomes.
COMPLETED = {
    "memprof flam": "flamegraph",
    "memprof budget in": "init",
    "memprof table --bott": "--bottom-up",
    "memprof budget init --download": "--download-limit",
    "memprof diff --by fu": "function",
    "memprof diff --by=fu": "--by=function",
    "memprof transform spee": "speedscope",
    "memprof transform json cap": "capture.memprof",
    "memprof table -n 5 -s allocations cap": "capture.memprof",
    "memprof diff capture.memprof cap": "capture.memprof",
    "memprof check capture.memprof --budget lim": "limits.toml",
    "memprof check --budget lim": "limits.toml",
    "memprof run -q unlik": "unlikely_program",
    "memprof run --checkpoint 5 -- unlik": "unlikely_program",
    "memprof run -o x unlikely_program lim": "limits.toml",
    "memprof doctor unlik": "unlikely_program",
}
# Texts without a completion.
NOT_COMPLETED = ["memprof growth --since lim", "memprof parse capture.memprof cap",
                 "memprof run unlikely_program --checkp", "memprof flamegraph --bott"]


class Typed:
    """A shell on a terminal of its own, into whose line a test types."""

    def __init__(self, command, directory, environment):
        self.directory = directory
        self.fd, terminal = pty.openpty()
        self.process = subprocess.Popen(command, cwd=directory, env=environment, stdin=terminal,
                                        stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        self.wait_for(lambda seen: b"READY>" in seen)

    def wait_for(self, is_there):
        seen = b""
        deadline = time.monotonic() + 30
        while not is_there(seen):
            if time.monotonic() > deadline:
                raise AssertionError(f"the shell only said {seen!r}")
            if select.select([self.fd], [], [], 0.02)[0]:
                seen += os.read(self.fd, 65536)

    def line_after(self, typed):
        """The line that a Tab makes of what was typed: a key of the test's writes it to a file."""
        line = os.path.join(self.directory, "line")
        os.write(self.fd, b"\x15" + typed.encode() + b"\t\x0f")
        self.wait_for(lambda _: os.path.exists(line))
        with open(line, encoding="utf-8") as file:
            text = file.read()
        os.unlink(line)
        return text

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


class ManualTest(MemprofTest):
    def setUp(self):
        super().setUp()
        for name in ("capture.memprof", "limits.toml", "two words.memprof"):
            with open(self.path(name), "w", encoding="ascii"):
                pass
        os.mkdir(self.path("bin"))
        with open(self.path("bin/unlikely_program"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n")
        os.chmod(self.path("bin/unlikely_program"), 0o755)
        self.environment = {"PATH": f"{self.path('bin')}:{os.path.dirname(MEMPROF)}:/usr/bin:/bin",
                            "HOME": self.path("home"), "ZDOTDIR": self.path("home"), "LC_ALL": "C.UTF-8",
                            "TERM": "dumb"}
        os.mkdir(self.path("home"))

    def manual(self, form, name):
        path = self.path("home/" + name)
        self.memprof("manual", form, "-o", path)
        return path

    def shell(self, name):
        if shutil.which(name) is None:
            self.skipTest(f"{name} is not installed")

    def check_typed(self, shell):
        self.addCleanup(shell.close)
        for typed, last in {**COMPLETED, "memprof summary two": "two\\ words.memprof"}.items():
            with self.subTest(typed):
                expected = typed[:typed.rindex(" ") + 1] + last
                # zsh adds an option's = at once, and a space where a word is done.
                self.assertEqual(shell.line_after(typed).rstrip(" ="), expected)
        for typed in NOT_COMPLETED:
            with self.subTest(typed):
                self.assertEqual(shell.line_after(typed).rstrip(), typed)

    def test_bash_completes_commands_options_words_files_and_programs(self):
        script = self.manual("bash", "completion")
        with open(self.path("home/rc"), "w", encoding="ascii") as file:
            file.write(f"source {script}\nPS1='READY>'\nbind 'set bell-style none'\n"
                       "write_line() { printf %s \"$READLINE_LINE\" >line.new; mv line.new line; }\n"
                       "bind -x '\"\\C-o\": write_line'\n")
        self.check_typed(Typed(["bash", "--noprofile", "--rcfile", self.path("home/rc"), "-i"],
                               self.directory, self.environment))

    def test_zsh_completes_commands_options_words_files_and_programs(self):
        self.shell("zsh")
        self.manual("zsh", "_memprof")
        with open(self.path("home/.zshrc"), "w", encoding="ascii") as file:
            file.write("fpath=($ZDOTDIR $fpath)\nautoload -U compinit && compinit -u -D\nPS1='READY>'\n"
                       "unsetopt beep list_beep prompt_cr prompt_sp auto_list auto_remove_slash\n"
                       "write_line() { print -rn -- \"$BUFFER\" >line.new; mv line.new line }\n"
                       "zle -N write_line\nbindkey -e\nbindkey '^O' write_line\nbindkey '^U' kill-whole-line\n")
        self.check_typed(Typed(["zsh", "-d", "-i"], self.directory, self.environment))

    def fish(self, script, typed):
        done = run(["fish", "--no-config", "-c", f"source {script}; complete -C $argv[1]", typed],
                   cwd=self.directory, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [line.split("\t")[0] for line in done.stdout.decode().splitlines()]

    def test_fish_completes_commands_options_words_files_and_programs(self):
        self.shell("fish")
        script = self.manual("fish", "memprof.fish")
        for typed, last in COMPLETED.items():
            with self.subTest(typed):
                self.assertEqual(self.fish(script, typed), [last])
        for typed in NOT_COMPLETED:
            with self.subTest(typed):
                self.assertEqual(self.fish(script, typed), [])

    def commands(self):
        """{path: its help} of all commands, memprof's own first."""
        helps = {(): self.memprof("--help")}
        for name in self.names_below(helps[()]):
            helps[(name,)] = self.memprof(name, "--help")
            for below in self.names_below(helps[(name,)]):
                helps[(name, below)] = self.memprof(name, below, "--help")
        return helps

    @staticmethod
    def names_below(text):
        listed = re.search(r"\nSubcommands:\n((?:  .*\n)+)", text)
        return re.findall(r"(?m)^  ([a-z][a-z-]*)", listed[1]) if listed else []

    def test_each_option_of_the_help_is_in_the_manual_and_is_completed(self):
        manual = self.memprof("manual", "man").replace("\\-", "-")
        script = self.manual("bash", "completion")
        for path, text in self.commands().items():
            command = " ".join(("memprof",) + path)
            names = re.findall(r"(?m)^  ((?:-\w,)?--[a-z]\S*)", text)
            options = re.findall(r"--[a-z][a-z-]*", " ".join(names))
            self.assertIn("--help", options)
            offered = run(["bash", "-c", f"source {script}; COMP_WORDS=({command} --); "
                           "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _memprof; echo ${COMPREPLY[@]}"])
            self.assertEqual(sorted(offered.stdout.decode().split()), sorted(options), command)
            if self.names_below(text) or not path:
                continue
            section = manual.split(f".SS {command}\n")[1].split("\n.S")[0]
            for option in set(options) - {"--help"}:
                self.assertIn(f"\\fB{option}\\fR", section, command)

    def test_each_option_says_what_it_takes(self):
        for path, text in self.commands().items():
            self.assertNotRegex(text, r"\bTEXT\b", f"{path}: give the option a type_name: FILE and "
                                "CAPTURE are completed as files, a|b|c as words")

    def test_the_man_page_has_no_warnings(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        page = self.manual("man", "memprof.1")
        done = run(["groff", "-man", "-ww", "-K", "utf8", "-T", "utf8", "-rLL=78n", page])
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("MEMPROF(1)", re.sub(r"\x1b\[\d+m", "", done.stdout.decode()))

    def test_it_refuses_what_it_cannot_write(self):
        done = run([MEMPROF, "manual", "tcsh"])
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"there are man, bash, zsh, fish", done.stderr)
        path = self.manual("man", "page")
        self.memprof("manual", "man", "-o", path, status=2)


if __name__ == "__main__":
    unittest.main()
