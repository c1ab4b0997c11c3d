#!/usr/bin/python3
"""A Rust program's functions, files, lines and inlined frames, with both manglings."""
import os
import shutil
import unittest

import harness

SOURCE = """\
use std::hint::black_box;

pub mod shop {
    pub struct Order(pub Vec<u8>);

    impl Order {
        #[inline(always)]
        pub fn new(bytes: usize) -> Order {
            Order(Vec::with_capacity(bytes)) // line: new
        }
    }

    #[inline(never)]
    pub fn keep(bytes: usize) -> usize {
        let order = super::black_box(Order::new(bytes)); // line: keep
        let capacity = order.0.capacity();
        std::mem::forget(order);
        super::black_box(capacity)
    }
}

fn main() {
    let bytes = black_box(4321);
    assert!(black_box(shop::keep(bytes)) >= 4321); // line: main
}
"""


def line_of(what):
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1)
                if line.endswith("// line: " + what))


@unittest.skipIf(shutil.which("rustc") is None, "rustc is not installed")
class RustTest(harness.MemprofTest):
    def build(self, *options):
        with open(self.path("shop.rs"), "w", encoding="ascii") as file:
            file.write(SOURCE)
        return harness.run(["rustc", "-g", "-O", "-C", "link-arg=-Wl,--build-id", *options,
                            "shop.rs", "-o", self.path("shop")], cwd=self.directory)

    def check(self):
        self.profile([self.path("shop")])
        profile = self.sites()
        site = next(site for site in profile["sites"] if site["total"]["bytes"] == 4321)
        self.assertEqual(site["leaked"], {"bytes": 4321, "allocations": 1})
        # v0 writes methods as "<shop::Order>::new".
        frames = [(frame["function"].replace("<", "").replace(">", ""),
                   os.path.basename(frame["file"]), frame["line"], frame["inlined"])
                  for frame in site["frames"]]
        ours = [frame for frame in frames if frame[0].startswith("shop::")]
        self.assertEqual(ours, [("shop::shop::Order::new", "shop.rs", line_of("new"), True),
                                ("shop::shop::keep", "shop.rs", line_of("keep"), False),
                                ("shop::main", "shop.rs", line_of("main"), False)])
        # Demangled everywhere, without hashes.
        for frame in (frame for site in profile["sites"] for frame in site["frames"]):
            self.assertNotRegex(frame["function"], r"^_R|^_ZN|::h[0-9a-f]{16}$")
        self.assertFalse([note for note in profile["notes"] if note.startswith("shop:")])

    def test_the_compilers_own_mangling_names_what_was_inlined(self):
        self.assertEqual(self.build().returncode, 0)
        self.check()

    def test_v0_names_what_was_inlined(self):
        self.assertEqual(self.build("-C", "symbol-mangling-version=v0").returncode, 0)
        self.check()

    def test_the_legacy_mangling_names_what_was_inlined(self):
        built = self.build("-C", "symbol-mangling-version=legacy")
        if built.returncode != 0:
            # Newer compilers have it among the unstable options.
            environment = dict(os.environ, RUSTC_BOOTSTRAP="1")
            built = harness.run(["rustc", "-g", "-O", "-C", "link-arg=-Wl,--build-id", "-Z",
                                 "unstable-options", "-C", "symbol-mangling-version=legacy",
                                 "shop.rs", "-o", self.path("shop")],
                                cwd=self.directory, env=environment)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.check()

    def test_without_debug_info_the_symbol_table_names_functions(self):
        for mangling in ("v0", "default"):
            options = ["-C", "symbol-mangling-version=v0"] if mangling == "v0" else []
            self.assertEqual(self.build("-C", "strip=debuginfo", *options).returncode, 0)
            self.profile([self.path("shop")])
            functions = {frame["function"] for site in self.sites()["sites"]
                         for frame in site["frames"]}
            self.assertTrue({"shop::shop::keep", "shop::main"} & functions, functions)


if __name__ == "__main__":
    unittest.main(verbosity=2)
