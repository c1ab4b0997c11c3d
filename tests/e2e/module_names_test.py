#!/usr/bin/python3
"""A library that was loaded by a relative path has its absolute path, wherever the program goes."""
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

    def test_a_program_has_the_name_of_the_link_that_was_executed(self):
        real, link = self.path("real-name"), os.path.realpath(self.path("lib")) + "/the-link"
        shutil.copy(os.path.join(harness.PROGRAMS, "leaky_service"), real)
        os.symlink(real, link)
        for command in ([link], ["lib/the-link"], ["sh", "-c", f"exec {link}"]):
            with self.subTest(command=command):
                done = self.profile(command)
                self.assertEqual(done.returncode, 0, done.stderr)
                modules = {frame["module"] for site in self.sites()["sites"]
                           for frame in site["frames"]}
                self.assertIn(link, modules)
                self.assertNotIn(os.path.realpath(real), modules)
                self.assertIn("the-link", self.memprof("summary", self.path("x.memprof")))
        # Another file of that name is not the program.
        done = self.profile([os.path.realpath(real)])
        self.assertIn(os.path.realpath(real), {frame["module"] for site in self.sites()["sites"]
                                               for frame in site["frames"]})


if __name__ == "__main__":
    unittest.main()
