#!/usr/bin/env bash
# Installs Debian packages, by sudo unless it is root, and starts no service of theirs.
#
#   tools/install_packages.sh [PACKAGE…]     without one: removes what a killed one left behind
#
# DPKG_ROOT, as with dpkg, is where the policy file goes instead of /: for tests.
set -euo pipefail
if ((EUID != 0)) && [[ ! ${DPKG_ROOT:-} ]]; then
  command -v sudo >/dev/null || {
    echo "dev: these packages are missing, and installing them needs root: $*" >&2
    exit 1
  }
  exec sudo env DEBIAN_FRONTEND=noninteractive "$0" "$@"
fi
export DEBIAN_FRONTEND=noninteractive

# The script that is asked before a package's service starts (invoke-rc.d). One of ours is known by its bytes: killed
# in the middle we leave it behind, and no service would ever start again.
policy=${DPKG_ROOT:-}/usr/sbin/policy-rc.d
ours='#!/bin/sh
# By ./dev of memprof, for as long as it installs packages: none of their services starts.
exit 101'

# One at a time, so that a file of ours that is there already is a left-over. apt-get has the lock too:
# it may outlive us.
mkdir -p "${DPKG_ROOT:-}/run/lock"
exec 9>"${DPKG_ROOT:-}/run/lock/memprof-dev"
flock 9
is_ours() { [[ -f $policy && $(<"$policy") == "$ours" ]]; }
# An interrupt is for apt-get too, which ends when it can; bash waits for it before it does this.
trap 'if is_ours; then rm -f "$policy"; fi' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
(($#)) || exit 0
if [[ ! -e $policy ]]; then
  printf '%s\n' "$ours" >"$policy"
  chmod 755 "$policy"
fi

apt=(apt-get -q -o DPkg::Lock::Timeout=300)
"${apt[@]}" update >/dev/null &&
  "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null || {
  echo "dev: apt-get could not install $*" >&2
  exit 1
}
