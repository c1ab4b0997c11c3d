#!/usr/bin/env bash
# Installs a package of memprof in a fresh minimal Debian with nothing but its dependencies, profiles a
# program there, reports on it, and removes it again. Needs root.
#
#   tools/clean_root.sh PACKAGE DIRECTORY     DIRECTORY is where the root is made
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian_root.sh"
package=$(readlink -f "$1")
directory=$(readlink -f "$2")
root=$directory/root
in_namespaces "$root" "$(readlink -f "$0")" "$package" "$directory"

# dpkg, not debootstrap, decides whether they are all that it needs.
depends=$(dpkg-deb -f "$package" Depends | sed 's/([^)]*)//g; s/[ ,]\+/ /g')
# shellcheck disable=SC2086
make_debian_root "$root" "$(. /etc/os-release && echo "$VERSION_CODENAME")" $depends
mount_debian_root "$root"
cp "$package" "$root/tmp/memprof.deb"

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C chroot "$root" bash -euc "$1"; }
inside 'dpkg -i /tmp/memprof.deb' >"$directory/install.log" 2>&1 || {
  cat "$directory/install.log" >&2
  exit 1
}
inside '
  cd /tmp
  memprof run -q -o x.memprof -- perl -e "my %h; \$h{\$_} = q(x) x 100 for 1..5000; print scalar(keys %h), qq(\n)" >out
  test "$(cat out)" = 5000
  memprof summary x.memprof >summary
  grep -q "^  peak " summary
  grep -q "100.0%.*total" summary
  grep -q "exact   every event was counted" summary
  memprof flamegraph x.memprof >page
  test "$(stat -c %s "$(cat page)")" -gt 100000
  memprof doctor perl >/dev/null
  source /usr/share/bash-completion/completions/memprof
  complete -p memprof >/dev/null
  head -n 12 summary
'
inside 'dpkg --purge memprof >/dev/null; ! find / -xdev -name "*memprof*" -not -path "/tmp/*" | grep .'
echo "installed, profiled, reported and removed in a clean root"
