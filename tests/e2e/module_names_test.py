#!/usr/bin/python3
"""A library that was loaded by a relative path has its whole path, wherever the program goes."""
import os
import shutil
import unittest

import harness

PROGRAM = os.path.join(harness.PROGRAMS, "relative_library")
NAME = "libplugin_one.so"


class ModuleNamesTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("lib"))
        self.library = os.path.realpath(self.path(f"lib/{NAME}"))
        shutil.copy(os.path.join(harness.PROGRAMS, NAME), self.library)

    def leak(self, *arguments, **environment):
        """The innermost frame of what the library leaked."""
        done = self.profile([PROGRAM, *arguments], env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        site, = [site for site in self.sites()["sites"] if site["leaked"]["bytes"] == 100]
        return site["frames"][0]

    def test_a_relative_path_is_the_directorys_of_the_time_when_it_was_loaded(self):
        for how, name, environment in (("by dlopen", f"./lib/{NAME}", {}),
                                       ("up and down", f"lib/../lib/{NAME}", {}),
                                       ("by a search path", NAME, {"LD_LIBRARY_PATH": "lib"})):
            with self.subTest(how):
                frame = self.leak(name, **environment)
                self.assertEqual((frame["module"], frame["function"]),
                                 (self.library, "plugin_one_leaks"))

    def test_a_deleted_file_has_the_path_that_it_had(self):
        for name, gone in ((f"./lib/{NAME}", self.library), (self.path(f"lib/{NAME}"), self.library)):
            with self.subTest(name):
                shutil.copy(os.path.join(harness.PROGRAMS, NAME), self.library)
                frame = self.leak(name, gone)
                self.assertEqual(os.path.realpath(frame["module"]), self.library)

    def test_a_name_that_says_deleted_is_a_name(self):
        odd = f"lib/{NAME} (deleted)"
        shutil.copy(self.library, self.path(odd))
        frame = self.leak(f"./{odd}")
        self.assertEqual((frame["module"], frame["function"]),
                         (os.path.realpath(self.path(odd)), "plugin_one_leaks"))


if __name__ == "__main__":
    unittest.main()
