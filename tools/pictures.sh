#!/usr/bin/env bash
# Makes the README's pictures: profiles redis-server under load and a program that leaks, and takes
# pictures of their pages. usage: pictures.sh BUILD DIRECTORY [VENV]
set -euo pipefail
build=$1 out=$2
python_venv=${3:-}  # with pandas; empty: the picture of a Python program stays as it is
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
pictures=(page-peak page-leaks-dark page-sites)
if [[ -n $python_venv ]]; then
  cp tools/prices.py "$work"
  (cd "$work" && PATH=$python_venv/bin:$PATH "$memprof" run -q -f -o prices.memprof -- python prices.py)
  "$memprof" flamegraph -f "$work/prices.memprof" >/dev/null
  node tests/cli/web/pictures.mjs --modules "$build/cli/web/page" --out "$work" \
    "page-python=$work/prices.memprof.html"
  pictures+=(page-python)
fi
for picture in "${pictures[@]}"; do
  pngquant --force --strip --speed 1 --output "$out/$picture.png" 64 "$work/$picture.png"
  echo "$out/$picture.png ($(stat -c %s "$out/$picture.png") bytes)"
done
