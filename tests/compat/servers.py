"""Servers, each with a client over a socket in the folder or on loopback, and curl."""
import signal

from program import Program

PROGRAMS = [
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
    Program("nginx under load", ("nginx-light", "apache2-utils"),
            ["nginx", "-p", ".", "-e", "error.log", "-c", "nginx.conf"],
            setup="""mkdir -p www; seq 1 2000 >www/numbers
cat >nginx.conf <<'END'
daemon off; pid nginx.pid; worker_processes 4; error_log error.log crit;
events { worker_connections 256; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
  scgi_temp_path t5; gzip on; gzip_types *; server { listen 127.0.0.1:{free_port}; root www; keepalive_requests 50;
  location /proxied/ { proxy_pass http://127.0.0.1:{free_port}/; } } }
END
chmod -R a+rX .""",
            ready="curl -s http://127.0.0.1:{free_port}/ >/dev/null",
            client="for path in numbers proxied/numbers none; do "
                   "ab -q -k -n 3000 -c 40 -H 'Accept-Encoding: gzip' http://127.0.0.1:{free_port}/$path | "
                   "grep -E 'Complete|Failed|Non-2xx|HTML transferred'; done",
            stop=signal.SIGQUIT, tree_allocates=10000),
    Program("mariadb", ("mariadb-server",),
            ["mariadbd", "--no-defaults", "--datadir={folder}/data", "--socket={folder}/s", "--skip-networking",
             "--pid-file={folder}/pid", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"],
            setup="mariadb-install-db --no-defaults --auth-root-authentication-method=normal --datadir={folder}/data"
                  " --skip-test-db --innodb-log-file-size=4M >/dev/null",
            ready="mariadb --no-defaults -S {folder}/s -u root -e 'select 1' >/dev/null 2>&1",
            client="""mariadb --no-defaults -S {folder}/s -u root 2>&1 <<'END'
create database d; use d;
create table t (i int primary key, m char(32), key (m)) engine=innodb;
insert into t select seq, md5(seq) from seq_1_to_5000;
select count(distinct m), min(m) from t;
select left(m, 1) c, count(*), group_concat(i order by i desc limit 3) from t group by c order by c limit 4;
update t set m = reverse(m) where i % 3 = 0;
select json_arrayagg(i) from t where i < 20;
END
mariadb --no-defaults -S {folder}/s -u root -e 'select no_such_thing' 2>&1
mariadb-slap --no-defaults -S {folder}/s -u root --create-schema=d --no-drop --concurrency=8 --iterations=1 \\
  --number-of-queries=2000 --query='select count(*) from t where m like "1%"' | grep -c Average
""", unprivileged=True, ignored_files=("data", "s", "pid"),
            # The time and the thread of each line of its log.
            normal=((r"(?m)^\d{4}-\d\d-\d\d .*\n", ""),), allocates=5000),
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
                   "/usr/lib/postgresql/15/bin/pgbench -h {folder} -U p -n -c 8 -j 2 -t 50 -M prepared postgres 2>&1"
                   " | grep processed\n"
                   "psql -At -h {folder} -U p -d postgres -c 'set min_parallel_table_scan_size = 0' -c 'set parallel_setup_cost = 0'"
                   " -c 'select sum(abalance), count(*) from pgbench_accounts a join t on a.aid = t.i' 2>&1",
            unprivileged=True, ignored_files=("data",), stop=signal.SIGINT,
            # The time and the process of each line, and a sum of random numbers.
            normal=((r"(?m)^\d{4}-.*\n", ""), (r"(?m)^-?\d+\|5000$", "sum|5000")), allocates=100,
            tree_allocates=10000),
]
