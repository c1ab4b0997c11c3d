"""CPython's own tests, bare and under memprof."""
import glob
import os
import subprocess
import xml.etree.ElementTree

TESTS = ["test_asyncio", "test_threading", "test_multiprocessing_fork", "test_multiprocessing_spawn",
         "test_multiprocessing_forkserver", "test_generators", "test_coroutines", "test_gc",
         "test_embed"]
SECONDS = 1500


def interpreters():
    """Debian's, and pyenv's newest: those that have the tests."""
    found = ["/usr/bin/python3", *sorted(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/3.*/bin/python3")), key=minor_of)[-1:]]
    for path in found:
        has = subprocess.run([path, "-c", "import test.test_gc"], capture_output=True)
        if has.returncode == 0:
            yield path
        else:
            print(f"{path}: without CPython's own tests (Debian's: package libpython3.X-testsuite)")


def minor_of(path):
    return [int(part) for part in path.split("/versions/")[1].split("/")[0].split(".")]


def results(command, folder, number):
    """The outcome of each test case by name; None: the test as a whole was not run to its end."""
    report = os.path.join(folder, f"report-{number}.xml")
    try:
        done = subprocess.run([*command, "--junit-xml", report], cwd=folder, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return {"[in time]": "no"}, ""
    cases = {"[exit status]": str(done.returncode)}
    if os.path.exists(report):
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            parts = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            cases[case.get("name")] = parts[0] if parts else "passed"
        os.remove(report)
    return cases, done.stdout


def run(memprof, _, folder):
    differences = 0
    for interpreter in interpreters():
        for test in TESTS:
            command = [interpreter, "-m", "test", test]
            profiled = [memprof, "run", "-q", "-f", "-o", os.path.join(folder, "x.memprof"), "--",
                        *command]
            # A test that depends on time may fail by itself: what differs is run again.
            for attempt in range(3):
                bare, _text = results(command, folder, 0)
                ours, text = results(profiled, folder, 1)
                differing = {name for name in bare.keys() | ours.keys()
                             if bare.get(name) != ours.get(name)}
                if not differing:
                    break
            again = f", at attempt {attempt + 1}" if attempt and not differing else ""
            print(f"{interpreter} {test}: {len(bare) - 1} cases, exit status "
                  f"{bare.get('[exit status]')}, " + ("the same" + again if not differing else
                  "differ: " + ", ".join(f"{name}: bare {bare.get(name)}, under memprof "
                                         f"{ours.get(name)}" for name in sorted(differing)[:5])),
                  flush=True)
            if differing:
                print(text[-3000:])
                differences += 1
    return differences
