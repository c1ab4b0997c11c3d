#!/usr/bin/python3
"""clang-tidy over sources, each only if it, its headers, .clang-tidy or clang-tidy have changed since it
was found clean: the user's cache has hashes of the preprocessed sources that were clean.

Most of the time goes into the headers, so sources of one folder are looked at together, as one that
includes them; each of them alone only where there is a finding, or where they don't compile together.

usage: tidy.py BUILD FILE…
BUILD has the compile_commands.json. Status 1: there are findings, which are printed.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "memprof-tidy")
BATCH = 12  # sources looked at together
HEADERS = r".*/(core|formats|aggregator|cli)/[^.]*\.h"  # as in .clang-tidy
# Whether these are unused is said of the main file alone.
IN_MAIN_FILE_ONLY = re.compile(r"^\s*(using [\w:]+::\w+;|namespace \w+ = )", re.MULTILINE)


def compiler_and_flags(entry):
    """The command without the compiler's cache, the source and the object."""
    words = shlex.split(entry["command"])
    while os.path.basename(words[0]) == "ccache":
        words = words[1:]
    at = words.index("-o")
    words[at:at + 2] = []
    words.remove("-c")
    words.remove(entry["file"])
    return words


def cache_path(entry, rules):
    """Of the source without line markers, so that the folder doesn't count; with comments, which may say
    NOLINT."""
    text = subprocess.run([*compiler_and_flags(entry), entry["file"], "-E", "-C", "-P", "-w"],
                          cwd=entry["directory"], check=True, stdout=subprocess.PIPE).stdout
    return os.path.join(CACHE, hashlib.sha256(rules + text).hexdigest())


def batches_of(entries):
    """Lists of sources that can be looked at together: of one folder, with the same flags."""
    alike = {}
    for entry in entries:
        key = (os.path.dirname(entry["file"]), entry["directory"], *compiler_and_flags(entry))
        with open(entry["file"], encoding="utf-8") as file:
            if IN_MAIN_FILE_ONLY.search(file.read()):
                key = entry["file"]
        alike.setdefault(key, []).append(entry)
    return [group[at:at + BATCH] for group in alike.values() for at in range(0, len(group), BATCH)]


def is_clean_together(build, batch):
    """False also where the sources don't compile as one."""
    top = os.path.relpath(batch[0]["file"]).split(os.sep)[0]
    folder = os.path.join(os.path.realpath(build), "tidy", top)
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(top, ".clang-tidy")):  # is asked for beside the source
        shutil.copy(os.path.join(top, ".clang-tidy"), folder)
    name = hashlib.sha256("".join(entry["file"] for entry in batch).encode()).hexdigest()[:16]
    source = os.path.join(folder, name + ".cc")
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(f'#include "{entry["file"]}"\n' for entry in batch)
    sources = "|".join(re.escape(entry["file"]) for entry in batch)
    tidy = subprocess.run(["clang-tidy", "--quiet", "--checks=-bugprone-suspicious-include",
                           f"--header-filter=^({sources}|{HEADERS})$", source, "--",
                           *compiler_and_flags(batch[0])[1:]],
                          cwd=batch[0]["directory"], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    return tidy.returncode == 0


def is_clean_alone(build, entry):
    """Prints what was found."""
    tidy = subprocess.run(["clang-tidy", "--quiet", "-p", build, entry["file"]], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if tidy.returncode != 0:
        sys.stdout.write(tidy.stdout.decode() or tidy.stderr.decode())
        sys.stdout.flush()
    return tidy.returncode == 0


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
        chosen = [entries[path] for path in sorted(files)]
        marks = dict(zip(sorted(files), pool.map(lambda entry: cache_path(entry, rules), chosen)))
        unknown = [entry for entry in chosen if not os.path.exists(marks[os.path.realpath(entry["file"])])]

        def found_in(batch):
            if len(batch) > 1 and is_clean_together(build, batch):
                clean = batch
            else:
                clean = [entry for entry in batch if is_clean_alone(build, entry)]
            for entry in clean:
                with open(marks[os.path.realpath(entry["file"])], "w", encoding="ascii"):
                    pass
            return len(batch) - len(clean)

        findings = sum(pool.map(found_in, batches_of(unknown)))
    print(f"{len(files)} files, {findings} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
