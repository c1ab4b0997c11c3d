#!/usr/bin/env bash
# Installs a package of memprof in a fresh minimal Debian with nothing but its dependencies, profiles a
# program there, reports on it, and removes it again. Needs root.
#
#   tools/clean_root.sh PACKAGE DIRECTORY     DIRECTORY keeps what debootstrap downloaded
set -euo pipefail
package=$(readlink -f "$1")
directory=$(readlink -f "$2")
root=$directory/root
((EUID == 0)) || exec sudo "$0" "$package" "$directory"

# All mounts are in a namespace of our own, and end with it.
[[ ${1:-} && ${MEMPROF_CLEAN_ROOT:-} ]] ||
  exec env MEMPROF_CLEAN_ROOT=1 unshare --mount --pid --fork "$0" "$package" "$directory"
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
rm -rf --one-file-system "$root"

# From where this machine has its own packages.
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(LABEL)' 'Created-By: Packages' |
  awk -v release="$release" '$2 == release && $3 == "Debian" { print $1; exit }')
# dpkg, not debootstrap, decides whether they are all that it needs.
depends=$(dpkg-deb -f "$package" Depends | sed 's/([^)]*)//g; s/ //g')

mkdir -p "$directory/downloads"
echo "making a clean root of $release"
debootstrap --variant=minbase --cache-dir="$directory/downloads" --include="$depends" \
  "$release" "$root" "$mirror" >"$directory/debootstrap.log" 2>&1 || {
  tail -n 20 "$directory/debootstrap.log" >&2
  exit 1
}
mount -t proc proc "$root/proc"
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
