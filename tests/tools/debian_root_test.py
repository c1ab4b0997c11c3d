#!/usr/bin/python3
"""in_namespaces of tools/debian_root.sh: however it ends, its processes end, its mounts go and its folder too."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = f"""#!/usr/bin/env bash
set -euo pipefail
source {ROOT}/tools/debian_root.sh
in_namespaces "$1" "$0" "$@"
mkdir "$1/mounted"
mount -t tmpfs tmpfs "$1/mounted"
[[ $$ == 1 ]]
sleep 1000 &
touch "$1/started"
$2
"""
TIMEOUT = 60


def may_make_namespaces():
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "true"], check=False, timeout=TIMEOUT,
        stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(may_make_namespaces(), "needs root, and namespaces")
class DebianRootTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="memprof-test-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.script = os.path.join(self.directory, "script")
        self.root = os.path.join(self.directory, "root")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        os.chmod(self.script, 0o755)

    def start(self, last):
        return subprocess.Popen([self.script, self.root, last], start_new_session=True,
                                env={**os.environ, "XDG_CACHE_HOME": self.directory})

    def wait_for(self, what):
        deadline = time.monotonic() + TIMEOUT
        while not what() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(what())

    def nothing_runs(self):
        """Of the script, in whatever namespace."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if f"XDG_CACHE_HOME={self.directory}".encode() in file.read().split(b"\0"):
                        return False
            except (FileNotFoundError, PermissionError, ProcessLookupError):
                pass
        return True

    def test_its_status_is_the_scripts(self):
        self.assertEqual(self.start("exit 7").wait(TIMEOUT), 7)
        self.assertFalse(os.path.exists(self.root))
        self.wait_for(self.nothing_runs)

    def test_nothing_is_left_of_an_interrupted_one(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number):
                process = self.start("wait")
                self.wait_for(lambda: os.path.exists(os.path.join(self.root, "started")))
                os.kill(process.pid, number)
                self.assertEqual(process.wait(TIMEOUT), status)
                self.assertTrue(self.nothing_runs())
                self.assertFalse(os.path.exists(self.root))

    def test_a_killed_one_ends_and_the_next_one_removes_its_folder(self):
        process = self.start("wait")
        self.wait_for(lambda: os.path.exists(os.path.join(self.root, "started")))
        os.kill(process.pid, signal.SIGKILL)
        process.wait(TIMEOUT)
        self.wait_for(self.nothing_runs)
        self.assertEqual(self.start("exit 0").wait(TIMEOUT), 0)
        self.assertFalse(os.path.exists(self.root))


if __name__ == "__main__":
    unittest.main(verbosity=2)
