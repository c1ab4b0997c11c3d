"""./dev soak [ALLOCATIONS | --minutes M]: the cost of a run of days.

Runs a steady program for so many allocations (10^9 unless said otherwise), or so many minutes, under
memprof run, looks at its capture as the checkpoints leave it, and prints how large it was, what
memory the tracker and the supervisor had, and how many moments were kept. Exits with 1 if the
capture, the tracker's memory or the supervisor's grew in the last three quarters of the run.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

CHECKPOINT_SECONDS = 1
SAMPLES = 12          # rows of the table
CAPTURE_SLACK = 1.10  # figures take a varint byte more now and then
TRACKER_SLACK = 1.01
SUPERVISOR_SLACK = 1.10  # its allocator keeps now more, now less


def resident_bytes(pid):
    """0: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))
    except OSError:
        return 0


def look(memprof, capture, supervisor):
    resident = resident_bytes(supervisor)
    size = os.path.getsize(capture)
    done = subprocess.run([memprof, "transform", "json", capture], capture_output=True, check=True)
    data = json.loads(done.stdout)
    return {"seconds": data["duration_ms"] / 1000, "allocations": data["total"]["allocations"],
            "live": data["leaked"]["allocations"], "capture": size,
            "tracker": data["tracker"]["bytes"], "supervisor": resident, "moments": len(data["moments"]),
            "points": len(data["timeline"]["points"])}


def show(sample):
    print(f"{sample['seconds']:9.1f} {sample['allocations']:15,} {sample['live']:8,} "
          f"{sample['capture']:10,} {sample['tracker']:12,} {sample['supervisor']:12,} "
          f"{sample['moments']:8} "
          f"{sample['points']:7}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("allocations", nargs="?", type=lambda text: int(float(text)),
                        default=1_000_000_000)
    parser.add_argument("--minutes", type=float, default=0)
    options = parser.parse_args()
    if options.minutes:
        options.allocations = 10**15  # more than there is time for
    memprof = os.path.join(options.build, "bin", "memprof")
    program = os.path.join(options.build, "tests", "soak_bench")
    with tempfile.TemporaryDirectory(prefix="memprof-soak-") as directory:
        capture = os.path.join(directory, "x.memprof")
        run = subprocess.Popen([memprof, "run", "-q", "-o", capture, "--checkpoint",
                                str(CHECKPOINT_SECONDS), "--", program, str(options.allocations)])
        print(f"{'seconds':>9} {'allocations':>15} {'live':>8} {'capture B':>10} {'tracker B':>12} "
              f"{'memprof B':>12} "
              f"{'moments':>8} {'points':>7}")
        def part(sample):  # of the run that is done
            if options.minutes:
                return sample["seconds"] / (60 * options.minutes)
            return sample["allocations"] / options.allocations
        looks, samples = [], []
        due = 1 / SAMPLES
        while run.poll() is None:
            time.sleep(CHECKPOINT_SECONDS)
            if not os.path.exists(capture):
                continue
            sample = look(memprof, capture, run.pid)
            looks.append(sample)
            if part(sample) >= due:
                samples.append(sample)
                show(sample)
                due = part(sample) + 1 / SAMPLES
            if options.minutes and part(sample) >= 1:
                run.terminate()  # which it passes on to the program
                run.wait()
        samples.append(look(memprof, capture, run.pid))
        looks.append(samples[-1])
        show(samples[-1])
    ended = run.returncode == (128 + signal.SIGTERM if options.minutes else 0)
    if not ended or part(samples[-1]) < 1:
        sys.exit("the run did not end as it should")
    # The moments swing between 64 and 128: a quarter must have seen both.
    early = [s for s in looks if part(s) <= 1 / 4]
    if len(early) < 30:
        sys.exit("the run was over too soon to tell; ask for more allocations")
    for name, slack in (("capture", CAPTURE_SLACK), ("tracker", TRACKER_SLACK),
                        ("supervisor", SUPERVISOR_SLACK)):
        before, after = max(s[name] for s in early), max(s[name] for s in looks)
        verdict = "stands still" if after <= before * slack else "GROWS"
        print(f"{name}: {before:,} B in the first quarter, at most {after:,} B later: {verdict}")
        if after > before * slack:
            sys.exit(1)


if __name__ == "__main__":
    main()
