#!/usr/bin/python3
"""Configuring on a machine without the build's dependencies lists all of them at once, before anything is
built, each with its Debian package, which ./dev installs."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = {"g++", "cmake", "ninja-build", "ccache", "ca-certificates"}  # by which it is configured at all
TIMEOUT = 100


def packages_of_dev(name):
    """Those of one of the arrays of ./dev."""
    with open(os.path.join(ROOT, "dev"), encoding="utf-8") as file:
        return set(re.search(rf"^{name}=\(([^)]*)\)", file.read(), re.MULTILINE)[1].split())


class ConfigureTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="memprof-test-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = dict(os.environ)

    def path(self, name):
        return os.path.join(self.directory, name)

    def configured(self, *options):
        """It must fail; what it says, in one line."""
        done = subprocess.run(
            ["cmake", "-S", ROOT, "-B", self.path("build"), "-G", "Ninja", *options], timeout=TIMEOUT,
            env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        text = done.stderr.decode()
        self.assertNotEqual(done.returncode, 0, text)
        return re.sub(r"\s+", " ", text)

    def test_all_that_is_missing_is_said_at_once(self):
        os.mkdir(self.path("nothing"))
        self.environment["PKG_CONFIG_LIBDIR"] = self.path("nothing")
        text = self.configured(
            f"-DCMAKE_FIND_ROOT_PATH={self.path('nothing')}", "-DMEMPROF_TESTS=ON",
            *(f"-DCMAKE_FIND_ROOT_PATH_MODE_{kind}=ONLY" for kind in ("INCLUDE", "LIBRARY", "PACKAGE")))
        said = set(re.search(r"apt-get install (.*?) or ./dev build", text)[1].split())
        self.assertLessEqual(packages_of_dev("build_packages") - TOOLS - {"pkg-config"}, said)
        self.assertLessEqual(said, packages_of_dev("build_packages") | packages_of_dev("test_packages"))
        for line in ("tl/expected.hpp: libexpected-dev", "re2: libre2-dev", "xxhash.h: libxxhash-dev",
                     "toml++/toml.h: libtomlplusplus-dev", "ncursesw: libncurses-dev",
                     "libdw: libdw-dev", "libzstd: libzstd-dev", "benchmark: libbenchmark-dev"):
            self.assertIn(line, text)

    def test_a_registry_that_does_not_answer_is_said(self):
        self.environment.update(npm_config_registry="http://127.0.0.1:9/",
                                npm_config_cache=self.path("cache"))
        text = self.configured()
        self.assertIn("ECONNREFUSED", text)
        self.assertIn("npm's registry does not answer. Build with a network, or", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
