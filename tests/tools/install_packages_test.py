#!/usr/bin/python3
"""tools/install_packages.sh in a root of the test's own, with an apt-get that the test controls."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                      "tools", "install_packages.sh")
# Tells what a package's service would be told, then waits for the test if it is asked to.
APT_GET = """#!/bin/sh
case " $* " in *" install "*) ;; *) exit 0 ;; esac
echo "$*" >"$DPKG_ROOT/installed"
"$DPKG_ROOT/usr/sbin/policy-rc.d"
echo $? >"$DPKG_ROOT/told.new"
mv "$DPKG_ROOT/told.new" "$DPKG_ROOT/told"
while [ -e "$DPKG_ROOT/wait" ]; do sleep 0.05; done
[ ! -e "$DPKG_ROOT/fail" ]
"""
TIMEOUT = 60


class InstallPackagesTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="memprof-test-")
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(self.path("usr/sbin"))
        self.write("bin/apt-get", APT_GET)
        os.chmod(self.path("bin/apt-get"), 0o755)
        self.policy = self.path("usr/sbin/policy-rc.d")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text=""):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def start(self, *packages):
        """The script, in a process group of its own, as a terminal's foreground has one."""
        process = subprocess.Popen(
            [SCRIPT, *packages], start_new_session=True, stderr=subprocess.PIPE,
            env={**os.environ, "DPKG_ROOT": self.root, "PATH": self.path("bin") + ":/usr/bin:/bin"})
        self.addCleanup(process.stderr.close)
        return process

    def install(self, *packages):
        process = self.start(*packages)
        text = process.communicate(timeout=TIMEOUT)[1].decode()
        return process.returncode, text

    def start_and_wait_for_apt(self):
        self.write("wait")
        process = self.start("one", "two")
        deadline = time.monotonic() + TIMEOUT
        while not os.path.exists(self.path("told")) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(os.path.exists(self.policy))
        return process

    def test_no_service_starts_meanwhile_and_nothing_is_left(self):
        self.assertEqual(self.install("one", "two"), (0, ""))
        self.assertRegex(self.read("installed"), r" install .* one two\n")
        self.assertEqual(self.read("told"), "101\n")
        self.assertFalse(os.path.exists(self.policy))

    def test_nothing_is_left_if_it_fails(self):
        self.write("fail")
        status, text = self.install("one", "two")
        self.assertEqual((status, text), (1, "dev: apt-get could not install one two\n"))
        self.assertFalse(os.path.exists(self.policy))

    def test_nothing_is_left_if_it_is_interrupted(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number):
                process = self.start_and_wait_for_apt()
                os.killpg(process.pid, number)
                os.unlink(self.path("wait"))
                process.wait(TIMEOUT)
                self.assertEqual(process.returncode, status)
                self.assertFalse(os.path.exists(self.policy))
                os.unlink(self.path("told"))

    def test_what_a_killed_one_left_is_known_and_removed(self):
        process = self.start_and_wait_for_apt()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(TIMEOUT)
        os.unlink(self.path("wait"))
        for packages in ((), ("one", "two")):
            with self.subTest(packages):
                shutil.copy2(self.policy, self.path("left"))
                self.assertEqual(self.install(*packages), (0, ""))
                self.assertFalse(os.path.exists(self.policy))
                shutil.copy2(self.path("left"), self.policy)
        self.assertEqual(self.read("told"), "101\n")

    def test_the_machines_own_stays_as_it_is(self):
        self.write("usr/sbin/policy-rc.d", "#!/bin/sh\nexit 104\n")
        os.chmod(self.policy, 0o755)
        self.assertEqual(self.install("one", "two"), (0, ""))
        self.assertEqual(self.read("told"), "104\n")
        self.assertEqual(self.read("usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 104\n")

    def test_a_second_one_waits_for_the_first(self):
        first = self.start_and_wait_for_apt()
        second = self.start("one", "two")
        with self.assertRaises(subprocess.TimeoutExpired):
            second.wait(0.5)
        os.unlink(self.path("wait"))
        self.assertEqual((first.wait(TIMEOUT), second.wait(TIMEOUT)), (0, 0))
        self.assertFalse(os.path.exists(self.policy))


if __name__ == "__main__":
    unittest.main(verbosity=2)
