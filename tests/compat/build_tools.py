"""Compilers and their tools."""
from program import Program

C_SOURCE = r"""cat >a.cc <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> Index(const std::vector<std::string>& words) {
  std::map<std::string, std::vector<int>> index;
  for (size_t i = 0; i < words.size(); ++i) index[words[i]].push_back(static_cast<int>(i));
  for (auto& [word, places] : index) std::sort(places.rbegin(), places.rend());
  return index;
}
int main() { return Index({"a", "b", "a"}).size() == 2 ? 0 : 1; }
END
"""

PROGRAMS = [
    Program("g++", ("g++",), ["g++", "-std=c++17", "-O1", "-g", "-c", "a.cc", "-o", "a.o"],
            setup=C_SOURCE, light=True),
    Program("cc1plus", ("g++",), ["sh", "-c", "exec $(g++ -print-prog-name=cc1plus) -quiet -imultiarch x86_64-linux-gnu -O2 a.cc -o a.s"],
            setup=C_SOURCE, allocates=1000),
    Program("clang", ("clang",), ["clang++", "-std=c++17", "-O2", "-g", "-c", "a.cc", "-o", "a.o"],
            setup=C_SOURCE, light=True, jemalloc=True, allocates=1000),
    Program("rustc", ("rustc",), ["/usr/bin/rustc", "-O", "--crate-name", "a", "a.rs"],
            setup="printf 'fn main() { let v: Vec<String> = (0..9).map(|i| i.to_string()).collect();"
                  " println!(\"{}\", v.join(\",\")); }' >a.rs", allocates=1000),
    Program("ld", ("binutils",), ["ld", "-r", "a.o", "b.o", "-o", "c.o"],
            setup="echo 'int f() { return 1; }' >a.c && echo 'int g() { return 2; }' >b.c && "
                  "gcc -g -c a.c b.c"),
    Program("make", ("make",), ["make", "-j2", "--no-print-directory"],
            setup="printf 'all: a b c\\na b c:\\n\\t@echo $@ >$@\\n' >Makefile"),
    Program("cmake", ("cmake",), ["cmake", "-G", "Ninja", "-B", "b"],
            setup="printf 'cmake_minimum_required(VERSION 3.20)\\nproject(p NONE)\\n"
                  "foreach(i RANGE 200)\\n  string(SHA256 h ${i})\\n  file(WRITE ${CMAKE_BINARY_DIR}/f${i} ${h})\\n"
                  "endforeach()\\nmessage(STATUS ${h})\\n' >CMakeLists.txt",
            ignored_files=("b/CMakeFiles/CMakeConfigureLog.yaml",), light=True, jemalloc=True, allocates=1000),
    Program("gdb", ("gdb", "g++"), ["gdb", "-nx", "-batch", "-ex", "set confirm off", "-ex", "break Index",
                                    "-ex", "run", "-ex", "backtrace", "-ex", "info source",
                                    "-ex", "continue", "a"],
            setup=C_SOURCE + "g++ -std=c++17 -g a.cc -o a",
            # The pid of what was debugged.
            normal=((r"\(process \d+\)", "(process)"), (r"words=[^)]*\)", "words)")), allocates=1000),
    Program("cppcheck", ("cppcheck",), ["cppcheck", "--enable=all", "--std=c++17", "--inconclusive",
                                        "a.cc"], setup=C_SOURCE, allocates=10000),
    Program("z3", ("z3",), ["z3", "-smt2", "q.smt2"],
            setup="{ for i in $(seq 1 40); do echo \"(declare-const x$i Int)\"; done;"
                  " for i in $(seq 2 40); do echo \"(assert (> x$i (+ x$((i-1)) $((i % 7)))))\"; done;"
                  " echo '(assert (< x40 500)) (check-sat)"
                  " (get-value (x1 x40))'; } >q.smt2", allocates=1000),
]
