#!/usr/bin/python3
"""Each rule by which threads count far below the peak is needed: without it, peak_model.cc finds a
run in which a figure is wrong.

usage: peak_mutations_test.py COMPILER SOURCE-DIR
"""
import os
import subprocess
import sys
import tempfile
import unittest

HEADERS = ("aggregator/tables/peak_tracker.h", "core/protocol/peak_reading.h")
MODEL = "tests/aggregator/tables/peak_model.cc"
COMPILER, SOURCE = sys.argv[1:3]
RUNS = "20000"  # most are found within the first hundred

# What is wrong then, and the texts with what takes their place.
MUTATIONS = (
    ("an account is closed without a look at the word", [
        ("        if (LoadLow() != closing.seen.low) return false;\n", "")]),
    ("the account is loaded after the word", [
        ("      entry.seen = Load(entry.account);\n", ""),
        ("      if (!ReadGeneration(closing)) continue;\n",
         "      if (!ReadGeneration(closing)) continue;\n"
         "      entry.seen = Load(entry.account);\n")]),
    ("what the opener wrote is used without another look at the word", [
        ("    return LoadLow() == closing.seen.low;\n", "    return true;\n")]),
    ("a generation is prepared where the living one lies", [
        ("      ++sequence;\n", "")]),
    ("a pool keeps a part of what was taken", [
        ("AmountWord(left - taken, tag)", "AmountWord(left - taken / 2, tag)")]),
    ("an open account counts as closed", [
        ("        if (joined && (seen & kAccountOpen) == 0) break;\n", "        if (joined) break;\n")]),
    ("a sum may exceed its limit", [
        ("change > 0 ? sum <= limit :", "change > 0 ? sum <= limit + 1 :")]),
    ("a thread that joins keeps its last epoch", [
        ("      share.epoch = EpochOf(closing.seen);\n", "")]),
    ("a thread that joins keeps its last limit", [
        ("    const int64_t limit = joined ? share.limit : 0;\n",
         "    const int64_t limit = share.limit;\n")]),
    ("an account that had not joined is closed with its last sum", [
        ("AmountWord(0, tag)", "AmountWord(AmountIn(seen), tag)")]),
    ("a mark forgets what is in the accounts", [
        ("        before = NearAgain(before, closing.current);\n",
         "        before = NearAgain(before, 0);\n")]),
    ("live bytes are read without another look at the word", [
        ("    if (seen != after) continue;\n", "")]),
)


class PeakMutationsTest(unittest.TestCase):
    def model(self, mutations):
        """Runs the model of a mutated tracker."""
        with tempfile.TemporaryDirectory(prefix="memprof-test-") as directory:
            texts = {}
            for header in HEADERS:
                with open(os.path.join(SOURCE, header), encoding="utf-8") as file:
                    texts[header] = file.read()
            for old, new in mutations:
                self.assertEqual(sum(text.count(old) for text in texts.values()), 1, old)
                texts = {header: text.replace(old, new) for header, text in texts.items()}
            for header, text in texts.items():
                path = os.path.join(directory, header)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            program = os.path.join(directory, "model")
            subprocess.run([COMPILER, "-std=c++20", "-O1", "-mcx16", "-I", directory, "-I", SOURCE,
                            os.path.join(SOURCE, MODEL), "-o", program], check=True)
            return subprocess.run([program, "1", RUNS], capture_output=True, text=True, check=False,
                                  timeout=600)

    def test_each_rule_is_needed(self):
        for title, mutations in MUTATIONS:
            with self.subTest(title):
                done = self.model(mutations)
                self.assertEqual(done.returncode, 1, "no run finds it")
                self.assertRegex(done.stdout, "^seed [0-9]+: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
