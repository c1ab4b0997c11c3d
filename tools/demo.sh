#!/usr/bin/env bash
# Profiles a real service: redis-server under redis-benchmark, on loopback, bounded in time.
# usage: demo.sh MEMPROF DIRECTORY
set -euo pipefail
memprof=$1 directory=$2
mkdir -p "$directory"
cd "$directory"
# redis takes its requests over a socket of this folder: no port is needed that might be taken.
socket=redis.sock
capture=$directory/redis.memprof
page=$directory/redis.html

echo "profiling redis-server under redis-benchmark"
"$memprof" run --aggregate -f -o "$capture" -- \
  redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --daemonize no \
  >redis.log &
run=$!
trap 'kill "$run" 2>/dev/null || true; wait "$run" 2>/dev/null || true; rm -f "$socket"' EXIT
for _ in $(seq 100); do
  [[ -S $socket ]] && break
  kill -0 "$run" 2>/dev/null || { cat redis.log; echo "demo: redis-server did not start" >&2; exit 1; }
  sleep 0.1
done
timeout 120 redis-benchmark -s "$socket" -q -n 100000 -r 100000 -P 16 -d 64 -t set,lpush,hset,zadd
timeout 10 redis-cli -s "$socket" shutdown nosave || true
wait "$run"
trap - EXIT
echo
"$memprof" summary "$capture"
"$memprof" flamegraph -f -o "$page" "$capture" >/dev/null
echo
echo "capture:     $capture ($(stat -c %s "$capture") bytes)"
echo "flame graph: $page"
