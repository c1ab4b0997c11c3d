#!/usr/bin/env bash
# Debian's static jemalloc with a prefix before each of its names, as the crate tikv-jemallocator
# builds its own.
# usage: prefix_jemalloc.sh COMPILER PREFIX OUTPUT
set -euo pipefail
compiler=$1 prefix=$2 output=$3
archive=$("$compiler" -print-file-name=libjemalloc.a)
[[ -f $archive ]] || { echo "libjemalloc.a is missing; apt-get install libjemalloc-dev" >&2; exit 1; }
nm -g --defined-only "$archive" 2>/dev/null |
  awk -v prefix="$prefix" 'NF == 3 && $3 !~ /^(_Z|DW)/ { print $3, prefix $3 }' | sort -u >"$output.names"
objcopy --redefine-syms="$output.names" "$archive" "$output"
