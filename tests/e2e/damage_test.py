#!/usr/bin/python3
"""A damaged capture or region: one clear line and exit 3, or a report that says what was lost.
Never a crash, a hang or a wrong total. Every length and, in steps, every byte of a real one."""
import os
import random
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")


class DamageTest(harness.MemprofTest):
    def setUp(self):
        super().setUp()
        self.profile([LEAKY])
        with open(self.path("x.memprof"), "rb") as file:
            self.whole = file.read()
        self.totals = {k: self.stats()[k] for k in ("peak", "leaked", "total")}

    def look(self, data, note):
        """What a report makes of these bytes; the status it gave."""
        with open(self.path("d.memprof"), "wb") as file:
            file.write(data)
        done = harness.run([harness.MEMPROF, "stats", "--json", self.path("d.memprof")])
        self.assertIn(done.returncode, (0, 3), f"{note}: {done.stderr!r}")
        if done.returncode == 3:
            self.assertRegex(done.stderr.decode(), r"^memprof: [^\n]*\n$", note)
            self.assertEqual(done.stdout, b"", note)
        else:
            # A readable one either has unharmed figures or says that it was damaged.
            import json
            stats = json.loads(done.stdout)
            same = {k: stats[k] for k in self.totals} == self.totals
            self.assertTrue(same or b"memprof: " in done.stderr, note)
        return done.returncode

    def test_every_flipped_byte_is_noticed_or_harmless(self):
        chosen = random.Random(7)
        positions = set(range(0, 64)) | {chosen.randrange(len(self.whole)) for _ in range(150)}
        statuses = set()
        for position in sorted(p for p in positions if p < len(self.whole)):
            data = bytearray(self.whole)
            data[position] ^= 1 << chosen.randrange(8)
            statuses.add(self.look(bytes(data), f"byte {position}"))
        self.assertIn(3, statuses)

    def test_every_cut_is_noticed(self):
        lengths = list(range(0, len(self.whole), max(1, len(self.whole) // 100)))
        for length in lengths + [len(self.whole) - 1]:
            self.look(self.whole[:length], f"{length} bytes")
        self.assertEqual(self.look(b"", "empty"), 3)

    def test_what_follows_the_end_is_no_harm(self):
        self.look(self.whole + os.urandom(100), "100 bytes more")

    def test_things_that_are_no_files(self):
        for path in ("/dev/null", "/proc/self/mem", self.directory, "/dev/zero"):
            with self.subTest(path=path):
                done = harness.run([harness.MEMPROF, "summary", path], timeout=20)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr.decode(), r"^memprof: [^\n]*\n$")

    def test_what_is_no_capture_is_not_read_as_a_whole(self):
        with open(self.path("large"), "wb") as file:
            file.truncate(8 << 30)
        with open(self.path("longer.memprof"), "wb") as file:
            file.write(self.whole)
            file.truncate(4 << 30)
        for path in ("/dev/zero", self.path("large"), self.path("longer.memprof")):
            for command in ("summary", "parse"):
                with self.subTest(path=path, command=command):
                    done = harness.run(["prlimit", "--as=600000000", harness.MEMPROF, command, path],
                                       timeout=20)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertRegex(done.stderr.decode(), "not a capture|no capture|larger than 1 GiB")

    def test_a_region_of_noise(self):
        self.profile([LEAKY], ["--region", self.path("x.region")])
        with open(self.path("x.region"), "rb") as file:
            head = bytearray(file.read(1 << 20))
            size = os.fstat(file.fileno()).st_size
        chosen = random.Random(11)
        for attempt in range(40):
            data = bytearray(head)
            for _ in range(1 + attempt * 3):
                data[chosen.randrange(len(data) if attempt % 2 else 4096)] = chosen.randrange(256)
            with open(self.path("d.region"), "wb") as file:
                file.write(data)
                file.truncate(size if attempt % 4 else len(data) // 2)
            done = harness.run([harness.MEMPROF, "stats", "--json", self.path("d.region")])
            self.assertIn(done.returncode, (0, 3), f"attempt {attempt}: {done.stderr!r}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
