#!/usr/bin/env bash
# A library for LD_PRELOAD needs libc (and the loader) only, imports hardly anything by name, exports
# what its map says, and takes a few words of static TLS.
# usage: check_preload.sh LIBRARY EXPORTS.MAP
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1 map=$2
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vxF libc.so.6 || true)
if [[ -n $needed ]]; then
  echo "$library needs more than libc: $needed" >&2
  exit 1
fi
# A reference by name is bound to the first definition in the process: the program's own, if it exports
# one. So these are all that may be imported; what else of libc is needed is looked for in libc itself
# (aggregator/basics/libc_functions.h), or brought along. None is a cancellation point.
allowed='
  _ITM_deregisterTMCloneTable  of the start files of gcc, weak
  _ITM_registerTMCloneTable    the same
  __cxa_finalize               the same; reserved to the C++ runtime
  __gmon_start__               the same; libc calls it so too
  __environ                    the variable that libc itself fills, also where the program has a copy of it
  __errno_location             errno is a variable of the thread and has no other address
  __libc_single_threaded       a variable of libc; also read where no call may be made; weak
  program_invocation_short_name  libc itself stores a pointer there, whoever defines it
  __sbrk                       behind the hook of sbrk, before anything can be looked for; weak
  _r_debug                     the loader tells debuggers by it what is loaded: where all else is found; weak
  _dl_debug_addr               the same in musl; weak
'
# These are to be whatever the program's own are bound to: mallocx stands on any malloc.
of_jemalloc='
  malloc  calloc  realloc  memalign  free  malloc_usable_size
  memprof_jemalloc_events_v2
'
# By the relocations: the linker's table also names variables' other names, which nothing refers to.
imported=$(readelf -rW "$library" | awk '$3 ~ /^R_X86_64/ && NF >= 5 && $4 ~ /^0+$/ { print $5 }' | sed 's/@.*//' | sort -u)
[[ -n $imported ]] || {
  echo "$library: readelf names no import, not even the start files'" >&2
  exit 1
}
foreign=$(comm -23 <(echo "$imported") \
  <({
    awk 'NF { print $1 }' <<<"$allowed"
    [[ $library != *_jemalloc.so ]] || tr -s ' ' '\n' <<<"$of_jemalloc"
  } | sort))
if [[ -n $foreign ]]; then
  echo "$library imports by name what the program may define:" $foreign >&2
  exit 1
fi
# A descendant may be a program of musl's, which inherits LD_PRELOAD. musl's loader ends it if a library
# needs a name that nobody has, unless the reference is weak, or another library than libc.
in_musl='
  __environ  __errno_location  program_invocation_short_name
'
strong=$(comm -12 <(nm -D --undefined-only "$library" | awk '$1 == "U" { print $2 }' | sed 's/@.*//' | sort -u) \
  <(echo "$imported"))
without_musl=$(comm -23 <(echo "$strong") \
  <({
    tr -s ' ' '\n' <<<"$in_musl"
    [[ $library != *_jemalloc.so ]] || tr -s ' ' '\n' <<<"$of_jemalloc"
  } | sort))
if [[ -n $without_musl ]]; then
  echo "$library imports what musl doesn't have, and not weakly:" $without_musl >&2
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
