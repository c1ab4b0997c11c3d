#!/usr/bin/python3
"""CPython under memprof: its own tests and programs of its world do the same as bare, and the figures
agree with those of Memray. Run by ./dev python.

usage: suite.py BUILD [--venv FOLDER] [tests | programs | memray | costs]…

tests      CPython's own tests, bare and under memprof: the same result of each
programs   gunicorn with workers, pytest -n 2, the start of a Jupyter kernel: the same output, and the
           workers' functions in the captures
memray     bytes at the peak and leaked ones by Python function, as Memray has them
costs      processor time bare, under memprof and under Memray, by turns

What is not installed is a line, not a failure. Exit status 1: something differs.
"""
import argparse
import os
import sys
import tempfile

import costs
import cpython_tests
import memray_figures
import programs

PARTS = {"tests": cpython_tests.run, "programs": programs.run, "memray": memray_figures.run,
         "costs": costs.run}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build")
    arguments.add_argument("--venv", default="", help="a virtual environment with the packages")
    arguments.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all")
    options = arguments.parse_intermixed_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        arguments.error(f"no part is called {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    memprof = os.path.join(os.path.abspath(options.build), "bin", "memprof")
    differences = 0
    for name in options.parts or PARTS:
        print(f"\n== {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="memprof-python-") as folder:
            differences += PARTS[name](memprof, os.path.abspath(options.venv or "/nowhere"), folder)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
