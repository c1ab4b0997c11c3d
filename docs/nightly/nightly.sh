#!/bin/sh
# One night: build, run under the budget, report, and keep the capture if all is well.
#   nightly.sh SOURCE BUILD KEPT [CMAKE OPTION…]     KEPT: a folder that outlives the job
set -u
source=$1 build=$2 kept=$3
shift 3
mkdir -p "$kept"
baseline=
[ -e "$kept/wordstore.memprof" ] && baseline=$kept/wordstore.memprof

# --fresh: an option of one night isn't kept for the next.
cmake --fresh -S "$source" -B "$build" -DBASELINE="$baseline" "$@" >/dev/null || exit
cmake --build "$build" >/dev/null || exit
if ctest --test-dir "$build" --output-on-failure; then
  cp "$build/wordstore_memory.memprof" "$kept/wordstore.memprof"
  exit 0
fi
# For the forge; the log has the text already.
memprof check "$build/wordstore_memory.memprof" --budget "$source/memprof.toml" \
  ${baseline:+--baseline "$baseline"} --format junit -f -o "$build/memory.xml"
exit 1
