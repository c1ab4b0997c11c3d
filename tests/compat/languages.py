"""Languages and their runtimes."""
from program import Program

PROGRAMS = [
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
    Program("keytool", ("openjdk-17-jre-headless",),
            ["keytool", "-J-Xshare:auto", "-list", "-v", "-cacerts", "-storepass", "changeit"],
            allocates=1000),
    Program("java", ("openjdk-17-jdk-headless",), ["java", "-Xmx128m", "Words"],
            setup="""cat >Words.java <<'END'
import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;
public class Words {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> sums = new ArrayList<>();
    for (int thread = 0; thread < 8; ++thread) {
      final int start = thread;
      sums.add(pool.submit(() -> {
        Map<String, List<Integer>> words = new TreeMap<>();
        for (int i = 0; i < 20000; ++i)
          words.computeIfAbsent("word " + (start + i * 7919 % 1009), k -> new ArrayList<>()).add(i);
        CRC32 sum = new CRC32();
        for (Map.Entry<String, List<Integer>> e : words.entrySet()) sum.update(e.toString().getBytes());
        // Memory outside of Java's heap.
        for (int i = 0; i < 200; ++i) {
          Deflater deflater = new Deflater();
          deflater.setInput(new byte[1000]);
          deflater.finish();
          deflater.deflate(new byte[2000]);
          deflater.end();
        }
        return sum.getValue();
      }));
    }
    for (Future<Long> sum : sums) System.out.println(sum.get());
    pool.shutdown();
    System.err.println("to stderr");
    System.exit(12);
  }
}
END
javac Words.java""", allocates=10000, status=12),
    Program("npm", (), ["npm", "install", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "./a"],
            setup="""mkdir a b && cd a
printf '{"name": "a", "version": "1.0.0", "bin": "a.js", "dependencies": {"b": "file:../b"}}' >package.json
echo 'console.log(require("b"))' >a.js
cd ../b
printf '{"name": "b", "version": "2.0.0", "scripts": {"postinstall": "echo ran >ran"}}' >package.json
echo 'module.exports = 42' >index.js
cd .. && printf '{"name": "top", "version": "0.0.1", "private": true}' >package.json
""", ignored_files=(".npm",), normal=((r"in \d+m?s", "in a moment"),), allocates=1000),
    Program("R", ("r-base-core",), ["R", "--vanilla", "-q", "-e", """
    fit <- lm(dist ~ speed, cars); print(summary(fit))
    words <- sapply(1:20000, function(i) paste0("w", i %% 1009)); print(head(sort(table(words)), 3))
    m <- matrix((1:40000 * 7919) %% 1009, 200); print(sum(round(solve(m + diag(1e6, 200)) * 1e9)))
    write.csv(data.frame(i = 1:100, w = words[1:100]), "words.csv"); print(system("echo child", intern = TRUE))
    print(nchar(paste(deparse(lm), collapse = ""))); message("to stderr"); quit(status = 13)"""],
            allocates=1000, status=13),
    Program("octave", ("octave",), ["octave-cli", "-q", "--no-history", "--eval", """
    x = 0; for i = 1:20000, x += mod(i, 7); end; disp(x)
    s = {}; for i = 1:2000, s{i} = sprintf("%d", i * i); end; disp(length(strjoin(s, ",")))
    m = mod(reshape((1:10000) * 7919, 100, 100), 1009); printf("%.6g\\n", sum(abs(eig(m))));
    disp(regexprep("a1b22c333", '(\\d+)', '<$1>')); fprintf(stderr, "to stderr\\n");
    f = fopen("written", "w"); fprintf(f, "%d\\n", 1:100); fclose(f);
    exit(14)"""], ignored_files=(".config", ".local", ".cache"), tree_allocates=10000, status=14),
    # Brings a malloc, which serves nobody until main.
    Program("maxima", ("maxima",), ["maxima", "--very-quiet", "--batch-string=integrate(1/(1+x^3),x); factor(2^64-1);"],
            ignored_files=(".maxima",), allocates=0, maps=100, tree_allocates=100),
]
