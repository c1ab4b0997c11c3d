#!/usr/bin/python3
"""Which folder may include which. An arrow that isn't in the table is an error, and so is a circle.

A folder's own subfolders are parts of it: between these, too, there is no circle.
"""
import collections
import os
import re
import subprocess
import sys

# Each may include what stands on the right, itself and its subfolders.
ALLOWED = {
    "core": {"core"},
    "formats": {"core", "formats"},
    "aggregator": {"core/protocol", "aggregator"},
    "cli": {"core", "formats", "cli"},
    "fuzz": {"core", "formats", "aggregator", "cli", "fuzz"},
    "tests": {"core", "formats", "aggregator", "cli", "tests"},
}


def includes():
    """(file, included file) of all sources."""
    listed = subprocess.run(["git", "ls-files", "*.cc", "*.h", "*.c"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    for path in listed:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for included in re.findall(r'^#include "([^"]+/[^"]+)"', file.read(), re.M):
                yield path, included


def within(path, folder):
    return path.startswith(folder + "/")


def circles(arrows):
    """Groups of folders that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in arrows[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in list(arrows):
        if node not in index:
            visit(node)
    return found


def main():
    wrong = []
    arrows = collections.defaultdict(set)
    files = collections.defaultdict(set)
    for path, included in includes():
        top = path.split("/")[0]
        if top not in ALLOWED or included.split("/")[0] not in ALLOWED:
            continue
        if not any(within(included, folder) for folder in ALLOWED[top]):
            wrong.append(f"{path} must not include {included}: {top}/ includes "
                         + ", ".join(sorted(ALLOWED[top])) + " only")
        here, there = os.path.dirname(path), os.path.dirname(included)
        if here != there and top != "tests":
            arrows[here].add(there)
            files[here, there].add(f"{path} includes {included}")
    for group in circles(arrows):
        wrong.append("a circle of folders: " + ", ".join(group))
        for here in group:
            for there in group:
                wrong += sorted(files[here, there])[:3]
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
