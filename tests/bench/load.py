"""./dev load [--events N]: large numbers of everything; checks that the figures are right.

  threads   10^5 that live for a moment
  sites     2^20 stacks, in a region in memory, and in one in a file that is too small for them:
            allocations without room are then in the row [tables full], and no byte is lost
  blocks    so many live blocks that the live map grows by more than 10^8 bytes
  events    10^9 by a steady program (./dev soak), unless --events 0

Prints a table; exits with 1 if a figure is wrong.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

THREADS = 100_000
SITES = 1 << 20
BLOCKS = 4_000_000
BYTES_A_BLOCK = 32        # of the tracker's memory, and a few MiB
FEW_MEBIBYTES = 8 << 20
LEAST_MAP = 100_000_000


class Load:
    def __init__(self, build, directory):
        self.memprof = os.path.join(build, "bin", "memprof")
        self.program = os.path.join(build, "tests", "load_bench")
        self.capture = os.path.join(directory, "x.memprof")
        self.region = os.path.join(directory, "x.region")
        self.wrong = 0

    def run(self, what, n, *flags, report=("transform", "json")):
        start = time.monotonic()
        done = subprocess.run([self.memprof, "run", "-q", "-f", "-o", self.capture, *flags, "--",
                               self.program, what, str(n)], capture_output=True, check=False)
        seconds = time.monotonic() - start
        if (done.returncode, done.stdout) != (0, b"done\n"):
            sys.exit(f"{what} {n}: {done}")
        text = subprocess.run([self.memprof, *report, self.capture],
                              capture_output=True, check=True).stdout
        return json.loads(text), seconds

    def bare(self, what, n):
        start = time.monotonic()
        subprocess.run([self.program, what, str(n)], capture_output=True, check=True)
        return time.monotonic() - start

    def row(self, name, profile, seconds, bare, checks):
        failed = [what for what, holds in checks.items() if not holds]
        self.wrong += len(failed)
        tracker = profile["tracker"]
        print(f"{name:26} {bare:7.1f} {seconds:8.1f} {tracker['sites']:10,} "
              f"{tracker['bytes'] / 1e6:10.1f} {os.path.getsize(self.capture):11,} "
              f"{tracker['tables_full_events']:11,}  {'; '.join(failed) or 'right'}", flush=True)

    @staticmethod
    def sums(profile, figure):
        return tuple(sum(site[figure][unit] for site in profile["sites"])
                     for unit in ("bytes", "allocations"))

    @staticmethod
    def of(profile, function):
        """Sums of the sites that have the function on their stack, or are in a row without one."""
        sites = [site for site in profile["sites"]
                 if any(frame["function"] == function or frame["function"].startswith("[tables")
                        for frame in site["frames"])]
        return {figure: (sum(site[figure]["bytes"] for site in sites),
                         sum(site[figure]["allocations"] for site in sites))
                for figure in ("peak", "leaked", "total")}

    def common(self, profile):
        checks = {"no dropped events": profile["tracker"]["dropped_events"] == 0}
        if "sites" in profile:
            checks["rows sum to the totals"] = all(
                self.sums(profile, figure) ==
                (profile[figure]["bytes"], profile[figure]["allocations"])
                for figure in ("peak", "leaked", "total"))
        return checks

    def threads(self):
        profile, seconds = self.run("threads", THREADS)
        found = self.of(profile, "moment")
        self.row(f"{THREADS:,} threads", profile, seconds, self.bare("threads", THREADS), {
            **self.common(profile),
            "total": found["total"] == (600 * THREADS, 6 * THREADS),
            "leaked": found["leaked"] == (100 * THREADS, THREADS)})

    def sites(self, *flags, full):
        # Not row by row: they would be gigabytes of text. Nothing else allocates in this program.
        profile, seconds = self.run("sites", SITES, *flags, report=("stats", "--json"))
        tables_full = profile["tracker"]["tables_full_events"]
        found = {figure: (profile[figure]["bytes"], profile[figure]["allocations"])
                 for figure in ("peak", "leaked", "total")}
        name = f"{SITES:,} sites" + (", region too small" if full else "")
        self.row(name, profile, seconds, self.bare("sites", SITES), {
            **self.common(profile),
            **{figure: found[figure] == (100 * SITES, SITES) for figure in found},
            "each has its row": full or profile["tracker"]["sites"] == SITES,
            "what has none is counted": (tables_full != 0) == full})

    def blocks(self):
        profile, seconds = self.run("blocks", BLOCKS)
        found = self.of(profile, "blocks")
        used = profile["tracker"]["bytes"]
        self.row(f"{BLOCKS:,} blocks", profile, seconds, self.bare("blocks", BLOCKS), {
            **self.common(profile),
            "peak": found["peak"] == (24 * BLOCKS, BLOCKS + 1),
            "leaked": found["leaked"] == (0, 0),
            "the map has grown": used > LEAST_MAP,
            "the map is small": used < BLOCKS * BYTES_A_BLOCK + FEW_MEBIBYTES})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--events", type=lambda text: int(float(text)), default=1_000_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memprof-load-") as directory:
        load = Load(options.build, directory)
        print(f"{'load':26} {'bare s':>7} {'memprof':>8} {'rows':>10} {'tracker MB':>10} "
              f"{'capture B':>11} {'tables full':>11}  figures")
        load.threads()
        load.sites(full=False)
        load.sites("--region", load.region, full=True)
        load.blocks()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor time in all {children.ru_utime + children.ru_stime:.0f} s")
    if load.wrong:
        sys.exit(1)
    if options.events:
        soak = os.path.join(os.path.dirname(os.path.abspath(__file__)), "soak.py")
        sys.exit(subprocess.run([sys.executable, soak, options.build, str(options.events)],
                                check=False).returncode)


if __name__ == "__main__":
    main()
