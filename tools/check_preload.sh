#!/usr/bin/env bash
# A library for LD_PRELOAD needs libc (and the loader) only, exports what its map says, and takes a few
# words of static TLS.
# usage: check_preload.sh LIBRARY EXPORTS.MAP
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1 map=$2
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux-x86-64\.so\.2)$' || true)
if [[ -n $needed ]]; then
  echo "$library needs more than libc: $needed" >&2
  exit 1
fi
wanted=$(sed -n '/global:/,/local:/p' "$map" | sed 's/global:\|local:.*//' | tr -s '; \n' '\n' | grep . | sort)
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sed 's/@.*//' | sort)
if ! diff <(echo "$wanted") <(echo "$exported"); then
  echo "$library: its exports (>) differ from $map (<)" >&2
  exit 1
fi
tls=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
if ((${tls:-0} > 128)); then
  echo "$library takes $((tls)) bytes of static TLS, which is scarce" >&2
  exit 1
fi
