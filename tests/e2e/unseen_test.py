#!/usr/bin/env python3
"""The capture, and so each report, names what is in no figure: an allocator inside that isn't hooked, and
programs that ran without a tracker."""
import os
import re
import subprocess
import unittest

import harness

LEAKY = os.path.join(harness.PROGRAMS, "leaky_service")


class UnseenTest(harness.MemprofTest):
    def compiled(self, name, text, *flags):
        with open(self.path(name + ".c"), "w", encoding="ascii") as source:
            source.write(text)
        subprocess.run(["gcc", *flags, "-o", self.path(name), self.path(name + ".c")], check=True)
        return self.path(name)

    def own_malloc(self):
        return self.compiled("own", "#include <stddef.h>\n#include <unistd.h>\n"
                             "static char heap[1 << 20]; static size_t used;\n"
                             "void* malloc(size_t n) { size_t at = used; used += (n + 15) & ~15ul; return heap + at; }\n"
                             "void free(void* p) { (void)p; }\n"
                             "int main(void) { return malloc(10) == NULL; }\n")

    def budget(self):
        with open(self.path("any.toml"), "w", encoding="ascii") as file:
            file.write('[budget]\npeak = "1 GiB"\n')
        return self.path("any.toml")

    def unseen(self, capture="x.memprof"):
        return [(one["kind"], one["name"], one["program"], one["count"])
                for one in self.stats(capture)["unseen"]]

    def said_everywhere(self, capture, line):
        for command in ("summary", "stats", "parse"):
            self.assertIn(line, " ".join(self.memprof(command, self.path(capture)).split()))
        self.memprof("flamegraph", self.path(capture), "-o", self.path("x.html"), "-f")
        with open(self.path("x.html"), encoding="utf-8") as page:
            self.assertIn(line, page.read())

    def test_a_malloc_of_the_program_s_own(self):
        self.assertEqual(self.profile([self.own_malloc()]).returncode, 0)
        self.assertEqual(self.unseen(), [("allocator", "malloc", "own", 1)])
        self.said_everywhere("x.memprof", "own has a malloc of its own inside that isn't hooked")
        self.assertNotIn("exact", self.memprof("summary", self.path("x.memprof")))
        # Nothing was counted: no budget is kept by that.
        done = self.bare([harness.MEMPROF, "check", "x.memprof", "--budget", self.budget()])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"nothing was counted: own has a malloc", done.stderr)

    def test_libc_s_reallocarray_over_a_malloc_of_the_program_s_own(self):
        # libc's function calls the program's realloc, and no hook would see what frees the block.
        own = self.compiled("own", "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <string.h>\n"
                            "static char heap[1 << 20]; static size_t used;\n"
                            "void* malloc(size_t n) { size_t at = used; used += (n + 15) & ~15ul; return heap + at; }\n"
                            "void free(void* p) { (void)p; }\n"
                            "void* calloc(size_t n, size_t m) { return malloc(n * m); }\n"
                            "void* realloc(void* p, size_t n) {\n"
                            "  void* q = malloc(n); if (p) memmove(q, p, n); return q; }\n"
                            "int main(void) {\n"
                            "  for (int i = 0; i < 10; ++i) free(reallocarray(reallocarray(NULL, 10, 10), 20, 10));\n"
                            "  return 0;\n}\n")
        self.assertEqual(self.profile([own]).returncode, 0)
        self.assertEqual(self.unseen(), [("allocator", "malloc", "own", 1)])
        self.assertEqual(self.sites()["leaked"]["allocations"], 0)

    def test_that_of_valgrind(self):
        done = self.profile(["valgrind", "-q", LEAKY])
        self.assertEqual(done.returncode, 0, done.stderr)
        (kind, name, _, count), = self.unseen()
        self.assertEqual((kind, name, count), ("allocator", "valgrind", 1))
        self.said_everywhere("x.memprof", "ran under a tool of valgrind's")
        self.assertNotIn("exact", self.memprof("summary", self.path("x.memprof")))
        # A tool that leaves malloc alone is counted as ever.
        done = self.profile(["valgrind", "-q", "--tool=none", LEAKY])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.unseen(), [])
        self.assertGreater(self.sites()["total"]["allocations"], 0)

    def test_one_of_a_child(self):
        own = self.own_malloc()
        for megabytes in (0, 70):  # large files are not looked through as a whole
            os.truncate(own, max(megabytes << 20, os.path.getsize(own)))
            done = self.profile(["sh", "-c", own + "; exit 0"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.unseen("x.all.memprof"), [("allocator", "malloc", "own", 1)])
            os.remove(self.path("x.all.memprof"))

    def test_what_was_executed_with_a_clean_environment(self):
        done = self.bare([harness.MEMPROF, "run", "-o", "x.memprof", "--budget", self.budget(), "env", "-i",
                          LEAKY])
        self.assertEqual(done.returncode, 0, done.stderr)
        (kind, name, program, count), = self.unseen()
        self.assertEqual((kind, program, count), ("executed", "env", 1))
        self.assertTrue(LEAKY.endswith(name) and name, name)
        self.assertRegex(done.stderr.decode().splitlines()[-1],
                         r"within budget: 1 check; but env executed \S+, which ran without a tracker")
        self.said_everywhere("x.memprof", f"env executed {name}, which ran without a tracker")
        done = self.bare([harness.MEMPROF, "check", "x.memprof", "--budget", self.budget()])
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"^memprof: warning: x\.memprof: env executed ")

    def test_a_program_that_executes_its_own_file_with_a_clean_environment(self):
        again = self.compiled("again", "#include <stdlib.h>\n#include <unistd.h>\nstatic void* volatile kept;\n"
                              "int main(int argc, char** argv) {\n"
                              "  char *words[] = {argv[0], \"x\", NULL}, *nothing[] = {NULL};\n"
                              "  if (argc == 1) { kept = malloc(100); execve(\"/proc/self/exe\", words, nothing); }\n"
                              "  for (int i = 0; i < 500; ++i) { kept = malloc(1000); usleep(1000); }\n"
                              "  return 0;\n}\n")
        # Also where addresses are the same in each run.
        for prefix in ((), ("setarch", "-R")):
            if prefix and self.bare([*prefix, "true"]).returncode != 0:
                continue
            self.assertEqual(self.profile([*prefix, again]).returncode, 0)
            self.assertEqual(self.unseen(), [("executed", "again", "again", 1)])
            self.assertNotIn("exact", self.memprof("summary", self.path("x.memprof")))
            done = self.profile(["sh", "-c", " ".join((*prefix, again)) + "; exit 0"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.unseen("x.all.memprof"), [("processes", "again", "", 1)])

    def test_a_program_that_renames_itself_late_executed_nothing(self):
        ways = {"self": 'pthread_setname_np(pthread_self(), "worker-7")',
                "lines": 'pthread_setname_np(pthread_self(), "two\\nlines")',
                "prctl": 'prctl(PR_SET_NAME, "worker-7")',
                "syscall": 'syscall(SYS_prctl, PR_SET_NAME, "worker-7-with-a-long-name")',
                "other": "pthread_create(&id, NULL, other, (void*)pthread_self()); pthread_join(id, NULL)"}
        for way, call in ways.items():
            renames = self.compiled("renames", "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdlib.h>\n"
                                    "#include <signal.h>\n#include <sys/prctl.h>\n#include <sys/syscall.h>\n"
                                    "#include <unistd.h>\nstatic void* volatile kept;\n"
                                    "static void* other(void* main) {\n"
                                    '  pthread_setname_np((pthread_t)main, "worker-7");\n  return NULL;\n}\n'
                                    "int main(int argc, char** argv) {\n  pthread_t id;\n  (void)id; (void)other;\n"
                                    f"  kept = malloc(100); usleep(150000);\n  {call};\n  kept = malloc(200);\n"
                                    "  if (argc > 1) raise(SIGKILL);\n  _exit(3);\n}\n")
            for words, status in (([], 3), (["kill"], 137)):
                with self.subTest(way=way, words=words):
                    self.assertEqual(self.profile([renames, *words]).returncode, status)
                    self.assertEqual(self.unseen(), [])
                    self.assertIn("exact", self.memprof("summary", self.path("x.memprof")))

    def test_a_child_with_a_clean_environment_that_lives_for_two_seconds(self):
        done = self.profile(["sh", "-c", "env -i sleep 2.5; exit 0"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.unseen(), [("processes", "sleep", "", 1)])
        self.said_everywhere("x.memprof", "1 process ran without a tracker and is in no figure: sleep")
        # A merge says it once, and sums it.
        self.memprof("merge", "x.memprof", "-o", "y.memprof")
        self.assertEqual(self.unseen("y.memprof"), [("processes", "sleep", "", 1)])

    def test_a_static_program_that_a_profiled_child_executes_at_once(self):
        static = self.compiled("static_one", "#include <unistd.h>\nint main(void) { usleep(400000); return 0; }\n",
                               "-static")
        spawns = self.compiled("spawns", f"""
            #include <stdlib.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(void) {{
              if (fork() == 0) {{
                char* volatile block = malloc(5);
                execl("{static}", block == NULL ? "" : "static_one", (char*)NULL);
                _exit(1);
              }}
              int status;
              wait(&status);
              return status;
            }}""")
        done = self.profile([spawns])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.unseen(), [("processes", "static_one", "", 1)])

    def test_a_name_of_a_vfork_child_s_is_not_its_parent_s(self):
        renames = self.compiled("renames", """
            #include <stdlib.h>
            #include <sys/prctl.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(void) {
              free(malloc(10));
              prctl(PR_SET_NAME, "mainname");
              const int pid = vfork();
              if (pid == 0) {
                prctl(PR_SET_NAME, "childs");
                execl("/bin/true", "true", (char*)NULL);
                _exit(1);
              }
              waitpid(pid, NULL, 0);
              _exit(0);
            }""")
        done = self.profile([renames])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.unseen(), [])
        self.assertEqual(self.sites()["end"]["kind"], "exit")

    def test_a_child_whose_tracker_gave_up_waiting(self):
        # The supervisor is stopped for longer than a tracker waits.
        for command, name in ((f"{LEAKY}; sleep 0.3", "[unknown]"), ("sleep 2 & sleep 0.6", "sleep")):
            done = self.bare([harness.MEMPROF, "run", "-f", "-o", "x.memprof", "sh", "-c",
                              f"kill -STOP $PPID; {command}; kill -CONT $PPID; wait; exit 0"])
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = self.unseen()
            self.assertIn(name, [program for _, program, _, _ in seen])
            self.assertRegex(done.stderr.decode(), r"ran without a tracker \(.*\): .*" + re.escape(name))
            self.said_everywhere("x.memprof", "ran without a tracker and ")

    def opens(self, how, symbol="malloc", ends="return 0", binding="-Wl,-z,now"):
        """A program that opens a plugin by `how`, which allocates by `symbol`; None: not at all."""
        self.compiled("plugin.so", "#include <stdlib.h>\nvoid go(void) { " +
                      (f"for (int i = 0; i < 10; i++) free({symbol}(1000));" if symbol else "") + " }\n",
                      "-shared", "-fPIC", "-fno-builtin", binding)
        return self.compiled("opens", f'''
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <signal.h>
            #include <stdlib.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(void) {{
              void* handle = {how};
              if (handle == NULL) return 1;
              ((void (*)(void))dlsym(handle, "go"))();
              free(malloc(10));
              {ends};
            }}''')

    def test_modules_whose_allocations_pass_by_the_hooks(self):
        deep, space = "module opened with RTLD_DEEPBIND", "libc in another namespace of the loader"
        for how, name, line in (
                ('dlopen("./plugin.so", RTLD_NOW | RTLD_DEEPBIND)', deep, "opened a module with RTLD_DEEPBIND"),
                ('dlopen("./plugin.so", RTLD_LAZY | RTLD_DEEPBIND)', deep, "opened a module with RTLD_DEEPBIND"),
                ('dlmopen(LM_ID_BASE, "./plugin.so", RTLD_NOW | RTLD_DEEPBIND)', deep, "with RTLD_DEEPBIND"),
                ('dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW)', space, "a namespace of its own (dlmopen)")):
            for ends in ("return 0", "dlclose(handle); return 0", "_exit(0)", "kill(getpid(), 9)",
                         'dlopen("libc.so.6", RTLD_NOW); _exit(0)'):
                for binding in ("-Wl,-z,now", "-Wl,-z,lazy"):
                    with self.subTest(how=how, ends=ends, binding=binding):
                        program = self.opens(how, ends=ends, binding=binding)
                        self.profile([program], ["-f"])
                        self.assertEqual(self.unseen(), [("allocator", name, "opens", 1)])
                        self.assertNotIn("exact", self.memprof("summary", self.path("x.memprof")))
            self.said_everywhere("x.memprof", line)

    def test_modules_that_pass_by_no_hook(self):
        for how, symbol in (
                ('dlopen("./plugin.so", RTLD_NOW)', "malloc"),
                ('dlopen("./plugin.so", RTLD_LAZY)', "malloc"),
                ('dlopen("./plugin.so", RTLD_NOW | RTLD_DEEPBIND)', None),
                ('dlmopen(LM_ID_BASE, "./plugin.so", RTLD_NOW)', "malloc"),
                ('(dlopen("./none.so", RTLD_NOW | RTLD_DEEPBIND), dlopen("./plugin.so", RTLD_NOW))', "malloc"),
                ('(dlmopen(LM_ID_NEWLM, "./none.so", RTLD_NOW), dlopen("./plugin.so", RTLD_NOW))', "malloc")):
            with self.subTest(how=how):
                done = self.profile([self.opens(how, symbol)], ["-f"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.unseen(), [])
                self.assertIn("exact", self.memprof("summary", self.path("x.memprof")))

    def test_a_forked_child_whose_parent_opened_such_a_module(self):
        program = self.opens('dlopen("./plugin.so", RTLD_NOW | RTLD_DEEPBIND)',
                             ends="if (fork() == 0) { free(malloc(10)); _exit(0); } wait(NULL); return 0")
        self.assertEqual(self.profile([program], ["-f"]).returncode, 0)
        self.assertEqual(self.unseen("x.all.memprof"),
                         [("allocator", "module opened with RTLD_DEEPBIND", "opens", 2)])

    def test_nothing_of_what_was_seen_as_a_whole(self):
        self.profile(["sh", "-c", LEAKY + "; exit 0"])
        for name in os.listdir(self.directory):
            self.assertEqual(self.unseen(name), [], name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
