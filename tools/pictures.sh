#!/usr/bin/env bash
# Makes the README's pictures: profiles redis-server under load and a program that leaks, and takes
# pictures of their pages. usage: pictures.sh BUILD DIRECTORY
set -euo pipefail
build=$1 out=$2
memprof=$build/bin/memprof
work=$build/pictures
mkdir -p "$work" "$out"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/demo.sh "$memprof" "$work/redis" >"$work/redis.txt"
# By its name alone, so that no folder of this machine is in the picture.
(cd "$work" && PATH=$build/tests/programs:$PATH "$memprof" run -q -f -o leaky_service.memprof -- \
  leaky_service)
"$memprof" flamegraph -f "$work/leaky_service.memprof" >/dev/null
node tests/cli/web/pictures.mjs --modules "$build/cli/web/page" --out "$work" \
  "page-peak=$work/redis/redis.html" \
  "page-leaks-dark=$work/leaky_service.memprof.html#mode=leaked&direction=callers" \
  "page-sites=$work/redis/redis.html#view=sites"
for picture in page-peak page-leaks-dark page-sites; do
  pngquant --force --strip --speed 1 --output "$out/$picture.png" 64 "$work/$picture.png"
  echo "$out/$picture.png ($(stat -c %s "$out/$picture.png") bytes)"
done
