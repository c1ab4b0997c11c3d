"""What memprof run --inspect-at-exit calls lost in real programs is what memcheck calls so: directly and
indirectly, bytes and blocks. Run by ./dev inspect.

usage: memcheck.py BUILD
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

MEMPROF = os.path.join(os.path.abspath(sys.argv[1]), "bin", "memprof")
FILES = {
    "a.xml": "<r>" + "<a b='c'>text</a>" * 3000 + "</r>",
    "a.json": json.dumps([{"a": i, "b": [1, 2, 3]} for i in range(2000)]),
    "sum.bc": "s=0\nfor(i=0;i<500;i++)s+=i\ns\nquit\n",
    "x.s": ".globl f\nf:\n  ret\n",
    "makefile": "all: a b\na:\n\techo a\nb:\n\techo b\n",
}
PROGRAMS = (
    ["xmllint", "--noout", "a.xml"],
    ["xmllint", "--xpath", "//a[1]", "a.xml"],
    ["sqlite3", ":memory:", "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 "
     "from c where x < 2000) insert into t select x, x from c; select count(*) from t;"],
    ["jq", "[.[].a] | add", "a.json"],
    ["perl", "-e", "my %h; $h{$_} = [1..3] for 1..2000; print scalar keys %h"],
    ["perl", "-e", "for (1..200) { my $a = {}; $a->{a} = $a; } print 1"],
    ["bc", "-q", "sum.bc"],
    ["openssl", "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", "k.pem", "-out", "c.pem", "-subj",
     "/CN=x"],
    ["openssl", "x509", "-in", "c.pem", "-noout", "-text"],
    ["git", "--no-pager", "log", "--oneline", "-n", "100"],
    ["git", "--no-pager", "diff", "--stat", "HEAD~5"],
    ["vim", "-es", "-u", "NONE", "-c", "q", "a.xml"],
    ["curl", "-s", "file:///etc/passwd", "-o", "/dev/null"],
    ["bash", "-c", "for i in {1..200}; do a[$i]=$i; done; echo ${#a[@]}"],
    ["ssh-keygen", "-l", "-f", "/etc/ssh/moduli"],
    ["file", "a.xml", "/bin/ls"],
    ["as", "x.s", "-o", "x.o"],
    ["nm", "/usr/lib/x86_64-linux-gnu/libz.a"],
    ["tar", "czf", "t.tgz", "/usr/share/doc/git"],
    ["find", "/usr/share/doc", "-name", "c*"],
    ["sort", "a.json"],
    ["awk", "BEGIN { for (i = 0; i < 3000; i++) a[i] = i; print length(a) }"],
    ["make", "-n"],
)


def by_memprof(command, folder):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "timeout": 120}
    subprocess.run([MEMPROF, "run", "-q", "-f", "-o", f"{folder}/x.memprof", "--inspect-at-exit", "--", *command],
                   stderr=subprocess.DEVNULL, check=False, **quiet)
    found = json.loads(subprocess.run([MEMPROF, "inspect", f"{folder}/x.memprof", "--json"], check=True,
                                      capture_output=True, timeout=120).stdout)
    return [found[kind][unit] for kind in ("lost_directly", "lost_indirectly") for unit in ("bytes", "allocations")]


def by_memcheck(command, folder):
    subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=definite,indirect", "--xml=yes",
                    f"--xml-file={folder}/x.xml", "--run-libc-freeres=no", "--run-cxx-freeres=no", *command],
                   stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300)
    lost = [0, 0, 0, 0]
    for error in xml.etree.ElementTree.parse(f"{folder}/x.xml").getroot().findall("error"):
        what = error.find("xwhat")
        if error.findtext("kind") == "Leak_DefinitelyLost":
            parts = re.search(r"\(([0-9,]+) direct, ([0-9,]+) indirect\)", what.findtext("text"))
            direct, indirect = (int(part.replace(",", "")) for part in parts.groups()) if parts else (
                int(what.findtext("leakedbytes")), 0)
            lost[0] += direct
            lost[1] += int(what.findtext("leakedblocks"))
            lost[2] += indirect
        elif error.findtext("kind") == "Leak_IndirectlyLost":
            lost[3] += int(what.findtext("leakedblocks"))
    return lost


def main():
    folder = tempfile.mkdtemp(prefix="memprof-memcheck-")
    repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    differ, same = 0, 0
    try:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for command in PROGRAMS:
            if not shutil.which(command[0]):
                print(f"{command[0]}: not here")
                continue
            os.chdir(repository if command[0] == "git" else folder)
            ours, theirs = by_memprof(command, folder), by_memcheck(command, folder)
            same += ours == theirs
            differ += ours != theirs
            if ours != theirs or any(ours):
                print(f"{' '.join(command)[:40]}: lost directly {ours[0]} bytes in {ours[1]}, indirectly "
                      f"{ours[2]} in {ours[3]}; memcheck: {theirs}", flush=True)
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{same} programs lose what memcheck says, {differ} differ")
    return 1 if differ or not same else 0


sys.exit(main())
