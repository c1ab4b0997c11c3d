#!/usr/bin/python3
"""clang-tidy over sources, each only if it, its headers, .clang-tidy or clang-tidy have changed since it
was found clean: the user's cache has hashes of the preprocessed sources that were clean.

usage: tidy.py BUILD FILE…
BUILD has the compile_commands.json. Status 1: there are findings, which are printed.
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "memprof-tidy")


def preprocessed(entry):
    """Without line markers, so that the folder doesn't count; with comments, which may say NOLINT."""
    words = shlex.split(entry["command"])
    while os.path.basename(words[0]) == "ccache":
        words = words[1:]
    at = words.index("-o")
    words[at:at + 2] = []
    words.remove("-c")
    return subprocess.run([*words, "-E", "-C", "-P", "-w"], cwd=entry["directory"], check=True,
                          stdout=subprocess.PIPE).stdout


def is_clean(build, entry, rules):
    """Prints what was found."""
    known = os.path.join(CACHE, hashlib.sha256(rules + preprocessed(entry)).hexdigest())
    if os.path.exists(known):
        return True
    tidy = subprocess.run(["clang-tidy", "--quiet", "-p", build, entry["file"]], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if tidy.returncode != 0:
        sys.stdout.write(tidy.stdout.decode() or tidy.stderr.decode())
        sys.stdout.flush()
        return False
    with open(known, "w", encoding="ascii"):
        return True


def main():
    build = sys.argv[1]
    files = {os.path.realpath(path) for path in sys.argv[2:]}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = {os.path.realpath(entry["file"]): entry for entry in json.load(file)}
    if files - entries.keys():
        sys.exit("tidy: not built: " + " ".join(sorted(files - entries.keys())))
    os.makedirs(CACHE, exist_ok=True)
    rules = b""
    for path in (".clang-tidy", "aggregator/.clang-tidy"):
        with open(path, "rb") as file:
            rules += file.read()
    rules += subprocess.run(["clang-tidy", "--version"], check=True, stdout=subprocess.PIPE).stdout
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(lambda path: is_clean(build, entries[path], rules), sorted(files)))
    print(f"{len(clean)} files, {clean.count(False)} with findings")
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
