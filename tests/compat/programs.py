"""The table of real programs that run under memprof as they do bare.

A Program is run in an empty folder, always the same one, after its `setup` (a shell script, run
bare). Its stdout, stderr, exit status and the files in the folder must be the same with memprof and
without. What differs between two bare runs has a `normal` rule, (pattern, replacement), that says so.

A `server` is started, runs until `ready` (a shell command) succeeds, then `client` (a shell script)
runs bare and what it prints is compared too; then the server gets `stop`.
"""
import dataclasses
import signal
import typing


@dataclasses.dataclass
class Program:
    name: str
    packages: typing.Tuple[str, ...]
    command: typing.List[str]
    setup: str = ""
    stdin: bytes = b""
    normal: typing.Tuple[typing.Tuple[str, str], ...] = ()
    ignored_files: typing.Tuple[str, ...] = ()  # folders or files that hold times or pids
    light: bool = False      # part of the tests; the others by ./dev compat alone
    jemalloc: bool = False   # also with jemalloc preloaded
    unprivileged: bool = False  # refuses to be root
    ready: str = ""
    client: str = ""
    stop: int = signal.SIGTERM
    allocates: int = 10      # allocations that the capture has at least
    status: int = 0          # what it exits with, so that a command that fails at once is noticed


SHELL_SCRIPT = """
total=0
text=
for i in $(seq 1 400); do
  total=$((total + i))
  text="$text$i,"
done
echo "$total ${#text}"
(cd / && echo "in a subshell: $PWD")
printf '%s\\n' c a b | sort | while read -r line; do echo "line $line"; done
f() { local x=$1; [ "$x" -le 0 ] || { f $((x - 1)); echo "$x"; }; }
f 20 | tail -n 1
cat <<END
here: $total
END
echo to a file >written
trap 'echo trapped; exit 7' EXIT
ls /nonexistent || exit 3
"""

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

ROWS = "awk 'BEGIN { for (i = 0; i < 20000; ++i) print (i * 7919) % 10007, \"row\", i }' >rows\n"

PROGRAMS = [
    # Shells
    Program("bash", ("bash",), ["bash", "-c", SHELL_SCRIPT], light=True, jemalloc=True, status=7),
    Program("dash", ("dash",), ["dash", "-c", SHELL_SCRIPT], light=True, status=7),
    Program("zsh", ("zsh",), ["zsh", "-f", "-c", SHELL_SCRIPT], jemalloc=True, status=7),
    Program("fish", ("fish",), ["fish", "--no-config", "-c",
                                "for i in (seq 300); set -a xs (math $i x 2); end; count $xs;"
                                "string join , $xs[1..20] | string upper; exit 4"],
            setup="mkdir home", ignored_files=("home",), status=4),
    # Languages
    Program("perl", ("perl",), ["perl", "-e",
                                "my %h; $h{$_ % 977} .= $_ for 1..50000;"
                                "print join(',', map {length} @h{sort keys %h}), qq(\\n);"
                                "my $t = join ' ', 1..9999; print scalar(() = $t =~ /(\\d)\\1/g);"
                                "warn qq(to stderr\\n); exit 5"], light=True, jemalloc=True, status=5),
    Program("python3", ("python3",), ["/usr/bin/python3", "-S", "-c", """
import json, re, threading, collections, zlib, subprocess
rows = [{'i': i, 'name': str(i) * 3} for i in range(5000)]
text = json.dumps(rows)
print(len(text), json.loads(text) == rows, zlib.crc32(text.encode()))
counts = collections.Counter(re.findall(r'\\d\\d', text))
print(counts.most_common(3))
done = []
threads = [threading.Thread(target=lambda n=n: done.append(sum(range(n * 1000)))) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(done))
print(subprocess.run(['sort'], input=b'b\\na\\n', stdout=subprocess.PIPE).stdout)
raise SystemExit(9)
"""], light=True, jemalloc=True, allocates=1000, status=9),
    Program("ruby", ("ruby",), ["ruby", "-e", """
h = Hash.new(0)
30000.times { |i| h[(i * 7919 % 1009).to_s] += 1 }
puts h.sort.first(5).inspect, h.size
threads = 4.times.map { |n| Thread.new { (1..2000).map { |i| "#{n}#{i}" }.join.size } }
p threads.map(&:value)
GC.start
warn 'to stderr'
exit 6
"""], jemalloc=True, status=6),
    Program("lua", ("lua5.4",), ["lua5.4", "-e", """
local t = {}
for i = 1, 50000 do t[#t + 1] = tostring(i) .. 'x' end
print(#table.concat(t), select('#', table.unpack(t, 1, 100)))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co(), co(), pcall(error, 'no'))
os.exit(3)
"""], status=3),
    Program("node", (), ["node", "-e", """
const rows = Array.from({length: 20000}, (_, i) => ({i, name: 'n' + i}));
console.log(JSON.stringify(rows).length, new Set(rows.map((r) => r.name)).size);
const z = require('zlib');
console.log(z.gunzipSync(z.gzipSync(Buffer.alloc(200000, 'ab'))).length);
require('fs').writeFileSync('written', rows.map((r) => r.name).join());
const {Worker} = require('worker_threads');
new Worker('require("worker_threads").parentPort.postMessage(40 + 2)', {eval: true})
    .on('message', (m) => console.log(m)).on('exit', () => process.exit(8));
"""], light=True, allocates=1000, status=8),
    Program("php", ("php-cli",), ["php", "-n", "-r",
                                  "$a = []; for ($i = 0; $i < 20000; ++$i) $a[] = md5((string)$i);"
                                  "sort($a); echo $a[0], count($a), strlen(serialize($a)), PHP_EOL;"
                                  "file_put_contents('written', json_encode($a)); exit(11);"], status=11),
    Program("java", ("openjdk-17-jre-headless",),
            ["keytool", "-J-Xshare:auto", "-list", "-v", "-cacerts", "-storepass", "changeit"],
            allocates=1000),
    # Compilers and their tools
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
    # Data and documents
    Program("git", ("git",), ["git", "log", "-p", "--stat", "--graph"],
            setup="export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z\n"
                  "git init -q -b main . && git config user.name a && git config user.email a@b\n"
                  "for i in 1 2 3 4 5 6; do seq $i $((i * 50)) >f$i; git add .; git commit -qm $i; done",
            ignored_files=(".git",), light=True, jemalloc=True),
    Program("git gc", ("git",), ["git", "gc", "-q", "--prune=now"],
            setup="export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z\n"
                  "git init -q -b main . && git config user.name a && git config user.email a@b\n"
                  "git config pack.threads 1; git config core.logAllRefUpdates false\n"
                  "for i in 1 2 3 4 5 6; do seq $i $((i * 50)) >f$i; git add .; git commit -qm $i; done",
            ignored_files=(".git/index", ".git/logs")),
    Program("tar and xz", ("tar", "xz-utils"), ["tar", "--sort=name", "--mtime=@0", "-cJf", "r.tar.xz", "rows"],
            setup=ROWS, light=True),
    Program("xz", ("xz-utils",), ["xz", "-T2", "-6", "--block-size=100KiB", "-k", "rows"], setup=ROWS, light=True, jemalloc=True,
            allocates=5),
    Program("sort", ("coreutils",), ["sort", "--parallel=2", "-S", "200K", "-T", ".", "-n", "rows"],
            setup=ROWS, light=True, allocates=5),
    Program("awk", ("mawk",), ["mawk", "{ n[$1 % 50] += $3; s = s substr($0, 1, 2) } "
                               "END { for (i = 0; i < 50; ++i) print n[i]; print length(s) }", "rows"],
            setup=ROWS, light=True, jemalloc=True),
    Program("sqlite3", ("sqlite3",), ["sqlite3", "t.db"],
            stdin=("create table t(a integer primary key, b text);begin;\n" + "".join(
                f"insert into t values({i}, 'row {i * 7919 % 10007}');\n" for i in range(3000)) +
                "commit;create index tb on t(b);select count(*), max(b) from t;\n"
                "select sum(length(b)) from t group by a % 3; select no such thing;\n").encode(),
            light=True, jemalloc=True, allocates=10000, status=1),
    Program("xmllint", ("libxml2-utils",), ["xmllint", "--xpath", "count(//i[@id mod 3 = 0])", "x.xml"],
            setup="{ echo '<r>'; seq -f \"<i id='%g'>n</i>\" 1 5000; echo '</r>'; } >x.xml", light=True,
            jemalloc=True, allocates=1000),
    Program("jq", ("jq",), ["jq", "-c", "map(select(. % 3 == 0)) | [add, length, (map(tostring) | join(\",\") | length)]"],
            stdin=("[" + ",".join(map(str, range(20000))) + "]").encode(), allocates=1000),
    Program("ffmpeg", ("ffmpeg",), ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i",
                                    "testsrc=size=160x120:rate=10", "-t", "1", "-threads", "2", "-c:v", "mpeg4",
                                    "-fflags", "+bitexact", "-flags:v", "+bitexact", "out.avi"], allocates=1000),
    Program("imagemagick", ("imagemagick",),
            ["convert-im6.q16", "rose:", "-resize", "300x200", "-blur", "0x2", "-strip", "-define",
             "png:exclude-chunks=date,time", "out.png"], allocates=100),
    Program("graphviz", ("graphviz",), ["dot", "-Tsvg", "-o", "g.svg", "g.dot"],
            setup="{ echo 'digraph g {'; for i in $(seq 1 120); do echo \"n$i -> n$((i * 7 % 60)); \"; done; echo '}'; } >g.dot",
            allocates=1000),
    Program("gnuplot", ("gnuplot-nox",), ["gnuplot", "-e", "set terminal svg; set output 'p.svg';"
                                          "plot sin(x) with lines, cos(2*x) with points"]),
    Program("openssl", ("openssl",), ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-iter", "2000", "-S",
                                      "0102030405060708", "-k", "secret", "-in", "rows", "-out", "rows.enc"],
            setup=ROWS, jemalloc=True, allocates=100),
    # Servers, each with a client over a socket in the folder or on loopback
    Program("redis", ("redis-server", "redis-tools"),
            ["redis-server", "--port", "0", "--unixsocket", "s", "--save", "", "--appendonly", "no",
             "--loglevel", "warning"],
            ready="redis-cli -s s ping", stop=signal.SIGTERM,
            client="seq 1 2000 | sed 's/.*/SET key& value&/' | redis-cli -s s | sort | uniq -c\n"
                   "redis-cli -s s lpush l a b c; redis-cli -s s lrange l 0 -1; redis-cli -s s get key77\n"
                   "redis-cli -s s eval 'local t = {} for i = 1, 50 do t[i] = i * i end return t' 0 | tail -n 1\n"
                   "redis-cli -s s dbsize",
            # Its log has its pid, the time and warnings about the machine.
            normal=((r"(?m)^\d+:[A-Za-z].*\n", ""),), ignored_files=("s",), light=True, allocates=1000),
    Program("memcached", ("memcached",), ["memcached", "-s", "s", "-t", "2"],
            ready="test -S s", ignored_files=("s",),
            client="""/usr/bin/python3 - <<'END'
import socket
s = socket.socket(socket.AF_UNIX); s.connect('s'); f = s.makefile('rwb')
for i in range(500):
    f.write(b'set k%d 0 0 5\\r\\nv%04d\\r\\n' % (i, i)); f.flush(); assert f.readline() == b'STORED\\r\\n'
f.write(b'get k7 k499 k500\\r\\n'); f.flush()
for line in iter(f.readline, b'END\\r\\n'): print(line)
END""", unprivileged=True),
    Program("nginx", ("nginx-light",), ["nginx", "-p", ".", "-e", "error.log", "-c", "nginx.conf"],
            setup="""mkdir -p www logs; seq 1 20000 >www/numbers; echo hello >www/index.html
cat >nginx.conf <<'END'
daemon off; pid nginx.pid; worker_processes 2; error_log error.log crit;
events { worker_connections 64; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
  scgi_temp_path t5; gzip on; gzip_types *; server { listen unix:s; root www; } }
END
chmod -R a+rX .""",
            ready="curl -s --unix-socket s http://x/ >/dev/null",
            client="for i in 1 2 3 4 5 6 7 8 9 10; do curl -s --unix-socket s http://x/numbers | md5sum; done\n"
                   "curl -s --compressed --unix-socket s http://x/numbers | md5sum\n"
                   "curl -s -o /dev/null -w '%{http_code}\\n' --unix-socket s http://x/none",
            ignored_files=("s",), stop=signal.SIGQUIT, allocates=20),
    Program("curl", ("curl",), ["curl", "-sS", "--no-progress-meter", "--parallel", "http://127.0.0.1:{port}/[1-20]", "-o", "got#1"],
            allocates=100),
    Program("initdb", ("postgresql-15",),
            ["/usr/lib/postgresql/15/bin/initdb", "-D", "data", "-A", "trust", "--no-sync", "-U", "p",
             "--locale=C", "--encoding=UTF8"],
            unprivileged=True, ignored_files=("data",), allocates=100),
    Program("postgres", ("postgresql-15", "postgresql-contrib"),
            ["/usr/lib/postgresql/15/bin/postgres", "-D", "data", "-k", "{folder}", "-c", "listen_addresses=",
             "-c", "fsync=off", "-c", "log_min_messages=fatal"],
            setup="/usr/lib/postgresql/15/bin/initdb -D data -A trust --no-sync -U p --locale=C >/dev/null",
            ready="psql -h {folder} -U p -d postgres -qc 'select 1' >/dev/null 2>&1",
            client="psql -h {folder} -U p -d postgres -c 'create table t as select i, md5(i::text) m from generate_series(1, 5000) i'"
                   " -c 'select count(distinct m), min(m) from t' -c 'select m, count(*) from t where i % 1000 = 7 group by 1 order by 1'"
                   " -c 'select no_such_thing' 2>&1\n"
                   "/usr/lib/postgresql/15/bin/pgbench -h {folder} -U p -i -q postgres 2>&1 | grep -c done\n"
                   "/usr/lib/postgresql/15/bin/pgbench -h {folder} -U p -n -c 4 -t 50 postgres 2>&1 | grep processed",
            unprivileged=True, ignored_files=("data",), stop=signal.SIGINT,
            # The time and the process of each line.
            normal=((r"(?m)^\d{4}-.*\n", ""),), allocates=100),
]
