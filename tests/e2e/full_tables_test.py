#!/usr/bin/python3
"""Full tables: allocations without a row of their own are in a row that says so, and no figure is made up."""
import os
import unittest

import harness

FULL_TABLES = os.path.join(harness.PROGRAMS, "full_tables")
BLOCK = 100


class FullTablesTest(harness.MemprofTest):
    def freed_elsewhere(self, stacks):
        # By itself, with a limit on its files, the program has a region of 4 MiB: 16,384 sites.
        script = (f'eval "$({harness.MEMPROF} env -o {self.path("x.memprof")})"; ulimit -f 14000; '
                  f'exec {FULL_TABLES} {stacks}')
        done = harness.run(["sh", "-c", script], cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = self.sites()
        self.assert_rows_sum_to_totals(profile)
        own = [site for site in profile["sites"]
               if any(frame["function"] in ("go", "[tables full]") for frame in site["frames"])]
        self.assertEqual(sum(site["total"]["allocations"] for site in own), stacks)
        self.assertEqual(sum(site["total"]["bytes"] for site in own), BLOCK * stacks)
        self.assertEqual(sum(site["leaked"]["bytes"] for site in own), 0)
        self.assertEqual(sum(site["leaked"]["allocations"] for site in own), 0)
        # All were live at once.
        self.assertEqual(profile["tracker"]["unattributed_bytes"], 0)
        self.assertGreaterEqual(profile["peak"]["bytes"], BLOCK * stacks)
        return profile

    def test_a_free_of_a_site_finds_room_where_other_threads_cells_have_none(self):
        profile = self.freed_elsewhere(15000)
        self.assertEqual(profile["tracker"]["tables_full_events"], 0)
        self.assertEqual(profile["tracker"]["dropped_events"], 0)
        with open(self.path("budget.toml"), "w", encoding="utf-8") as file:
            file.write('[budget]\nleaked = "1 KiB"\n')
        self.memprof("check", "--budget", self.path("budget.toml"), self.path("x.memprof"))

    def test_what_has_no_site_is_in_one_row_with_its_frees(self):
        profile = self.freed_elsewhere(60000)
        full = [site for site in profile["sites"]
                if site["frames"][0]["function"] == "[tables full]"]
        self.assertEqual(sum(site["total"]["allocations"] for site in full),
                         profile["tracker"]["tables_full_events"])
        self.assertGreater(profile["tracker"]["tables_full_events"], 30000)
        self.assertIn("found the tables full", self.memprof("summary", self.path("x.memprof")))


if __name__ == "__main__":
    unittest.main()
