#!/usr/bin/env bash
# Memcheck over the commands that read captures: no invalid access, nothing lost.
#
# usage: valgrind.sh BUILD
set -euo pipefail
build=$(realpath "$1")
memprof=$build/bin/memprof
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$memprof" run -q -o one.memprof -- "$build/tests/programs/leaky_service" >/dev/null
"$memprof" run -q -o two.memprof --symbolize -- "$build/tests/programs/leaky_service" >/dev/null
"$memprof" run -q -o sampled.memprof --sample 1K -- "$build/tests/programs/leaky_service" >/dev/null
head -c $(($(stat -c %s one.memprof) / 2)) one.memprof >cut.memprof
printf '[budget]\npeak = "1 GiB"\n' >budget.toml

check() {  # STATUS ARGUMENTS…
  local wanted=$1 status=0
  shift
  printf 'memcheck: memprof %s\n' "$*"
  # 99 is memcheck's; its report goes to a file, the command's own output nowhere.
  valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --log-file=memcheck "$memprof" "$@" >/dev/null 2>&1 || status=$?
  if ((status != wanted)); then
    cat memcheck
    echo "memprof $*: status $status instead of $wanted" >&2
    exit 1
  fi
}

check 0 summary one.memprof
check 0 summary --leaks --json one.memprof two.memprof
check 0 table --csv sampled.memprof
check 0 tree two.memprof
check 0 stats one.memprof
check 0 diff one.memprof two.memprof
check 0 growth two.memprof
check 0 flamegraph -o page.html two.memprof
for format in json csv folded pprof speedscope massif dhat; do
  check 0 transform "$format" -o "out.$format" two.memprof
done
check 0 merge -o merged.memprof one.memprof two.memprof
check 0 check --budget budget.toml one.memprof
check 3 summary cut.memprof
check 3 stats budget.toml
