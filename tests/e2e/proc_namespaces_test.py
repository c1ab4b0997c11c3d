#!/usr/bin/python3
"""memprof where /proc is not simply its own: that of another namespace of pids, hidden behind another
one that a descendant mounted, or silent about a child of another user. No child is disturbed.
"""
import glob
import os
import shutil
import subprocess
import time
import unittest

import harness

ODD = os.path.join(harness.PROGRAMS, "odd_forks")
ENDS = os.path.join(harness.PROGRAMS, "main_thread_ends")
RUN = [harness.MEMPROF, "run", harness.EACH, "-f", "-o", "x.memprof"]


class ProcNamespacesTest(harness.MemprofTest):
    def unshare(self, *flags):
        """A namespace, as root or as who is root in it."""
        command = ["unshare", *([] if os.geteuid() == 0 else ["-Ur"]), *flags]
        if harness.run([*command, "true"]).returncode != 0:
            self.skipTest("no namespaces here")
        return command

    def totals(self):
        found = [self.sites(os.path.basename(path)) for path in glob.glob(self.path("x.*.memprof"))
                 if not path.endswith(".all.memprof")]
        return sorted((p["total"]["bytes"], p["total"]["allocations"]) for p in found)

    def test_children_are_followed_by_a_proc_that_has_other_pids(self):
        done = harness.run([*self.unshare("-pf"), *RUN, "--wait", "--", ODD, "workers", "4", "100"],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual([t for t in self.totals() if t == (10000, 100)], [(10000, 100)] * 12)

    def test_a_child_there_keeps_its_slot_and_its_figures(self):
        done = harness.run([*self.unshare("-pf"), *RUN, "--", ENDS, "forked", "60"], cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        (total, allocations), = self.totals()
        self.assertGreaterEqual(total, 60000 + 64 * 4006)
        self.assertGreaterEqual(allocations, 600 + 64 * 4)

    def test_who_executes_there_is_known_by_name(self):
        done = harness.run([*self.unshare("-pf"), *RUN, "--", "sh", "-c", f"{ENDS} forked 1; true"],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        names = {self.sites(os.path.basename(path))["program"]
                 for path in glob.glob(self.path("x.*.memprof"))}
        self.assertIn("main_thread_ends", names)

    def test_what_ends_with_the_first_process_of_a_namespace_is_merged(self):
        done = harness.run([*self.unshare("-pf", "--mount-proc"), harness.MEMPROF, "run", "-f", "-o", "x.memprof",
                            "--", "sh", "-c", f"{ODD} workers 2 100 & sleep 30 & sleep 0.5; exit 5"],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 5, done.stderr.decode())
        self.assertIn("all together", done.stderr.decode())
        self.assertEqual(sorted(os.path.basename(path) for path in glob.glob(self.path("*.memprof"))),
                         ["x.all.memprof", "x.memprof"])

    def test_nothing_is_attached_to_by_pids_of_elsewhere(self):
        done = harness.run([*self.unshare("-pf"), "sh", "-c",
                            f"sleep 20 & {harness.MEMPROF} attach $!; status=$?; kill $!; exit $status"],
                           cwd=self.directory)
        self.assertEqual(done.returncode, 125)
        self.assertIn("/proc has the pids of another namespace", done.stderr.decode())

    def test_a_run_ends_though_a_descendant_mounts_another_proc_over_its_own(self):
        outside = self.unshare("-m", "--propagation", "private")
        inside = ["unshare", "-pf", "sh", "-c", f"mount -t proc proc /proc && {ODD} workers 4 3000"]
        if harness.run([*outside, *inside]).returncode != 0:
            self.skipTest("no mounts here")
        done = harness.run([*outside, *RUN, "--wait", "--", *inside], cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual([t for t in self.totals() if t == (300000, 3000)], [(300000, 3000)] * 12)

    def test_a_child_that_becomes_another_user_keeps_its_slot(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("for root, with setpriv")
        if os.stat(harness.BUILD).st_mode & 0o5 != 0o5:
            self.skipTest("the build is not readable")
        os.chmod(self.directory, 0o777)
        process = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *RUN,
                                    "--", ODD, "other-user", "500"], cwd=self.directory,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        own = os.readlink("/proc/self/ns/user")
        deadline = time.monotonic() + harness.TIMEOUT
        mapped = False
        while process.poll() is None and not mapped and time.monotonic() < deadline:
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
                for pid in children.read().split():
                    try:
                        if os.readlink(f"/proc/{pid}/ns/user") == own:
                            continue
                        for name in ("uid_map", "gid_map"):
                            with open(f"/proc/{pid}/{name}", "w") as file:
                                file.write("0 65534 1\n1 100001 10\n")
                        mapped = True
                    except FileNotFoundError:
                        pass  # it has ended
            time.sleep(0.01)
        said = process.communicate(timeout=harness.TIMEOUT)[1].decode()
        if process.returncode == 77:
            self.skipTest("not allowed here")
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(self.totals(), [(50000, 500)])


if __name__ == "__main__":
    unittest.main()
