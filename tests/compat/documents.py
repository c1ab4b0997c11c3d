"""Programs that read and write data and documents."""
from program import ROWS, Program

PROGRAMS = [
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
                                    "testsrc=size=160x120:rate=25", "-f", "lavfi", "-i", "sine=frequency=440", "-t", "2",
                                    "-filter_complex", "[0:v]split[a][b];[a]hflip,scale=320:240[c];"
                                    "[b]negate,scale=320:240[d];[c][d]hstack", "-threads", "2", "-c:v", "mpeg4", "-c:a",
                                    "aac", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
                                    "out.mp4"], allocates=1000),
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
]
