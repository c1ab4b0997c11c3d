#!/usr/bin/env bash
# Does what a new user does: in a clean Debian with git and nothing else, clones the repository (its last
# commit) and runs a command of the README there, as root and as a user with sudo. Needs root.
#
#   tools/fresh.sh [--release CODENAME] [--as root|user] [demo|test]
#
# Objects that ccache has of this machine are used: it holds each header that was read against the one
# of the clean root, so that a header that no package brings is missed still.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/debian_root.sh
usage() { grep '^#   tools' "$0" | sed 's/^# */usage: /' >&2; exit 2; }

release=bookworm passes=(root user) command=demo
arguments=("$@")
while (($#)); do
  case $1 in
    --release) release=${2:?$(usage)}; shift ;;
    --as) [[ ${2:-} == @(root|user) ]] || usage; passes=("$2"); shift ;;
    demo | test) command=$1 ;;
    *) usage ;;
  esac
  shift
done

say() { printf '\n== %s\n' "$*"; }

directory=$PWD/build/fresh
in_namespaces "$directory" "$PWD/tools/fresh.sh" "${arguments[@]}"

[[ ! $(git status --porcelain) ]] || echo "what is not committed is not tried"

# At the same path as here, since what was compiled is remembered by it.
clone=$PWD
compiled=/var/cache/compiled
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# NAME=VALUE lines for ccache: the machine's objects, whoever compiled them; headers are never skipped.
ccache_environment() {  # USER
  command -v ccache >/dev/null || return 0
  printf '%s\n' "CCACHE_DIR=$compiled" CCACHE_SLOPPINESS= "CCACHE_TEMPDIR=/tmp/compiled-$1" \
    "CCACHE_MAXSIZE=$(ccache --get-config max_size)" "CCACHE_BASEDIR=$(ccache --get-config base_dir)"
  [[ $(ccache --get-config hash_dir) == true ]] || echo CCACHE_NOHASHDIR=1
  [[ $1 == root ]] || echo CCACHE_READONLY=1  # they are root's
}

# How this machine reaches a registry, which no file of ours names.
npm_environment() {
  env | grep -iE '^(npm_config_|node_extra_ca_certs=|https?_proxy=|no_proxy=)' |
    grep -viE '^npm_config_(cache|prefix|userconfig|globalconfig|node_gyp|local_prefix)=' || true
  printf '%s\n' NPM_CONFIG_USERCONFIG=/etc/npm/user NPM_CONFIG_GLOBALCONFIG=/etc/npm/global
}

copy_npm_files() {  # ROOT USER: the files that npm's configuration is in, and those that are named
  mkdir -p "$1/etc/npm"
  touch "$1/etc/npm/"{user,global}
  if command -v npm >/dev/null; then
    local kind file
    for kind in user global; do
      file=$(cd / && npm config get "${kind}config" 2>/dev/null)
      [[ ! -f $file ]] || cp "$file" "$1/etc/npm/$kind"
    done
  fi
  chroot "$1" chown -R "$2" /etc/npm
  chmod 600 "$1/etc/npm/"*
  file=${NODE_EXTRA_CA_CERTS:-}
  if [[ -f $file && ! -e $1$file ]]; then
    mkdir -p "$1$(dirname "$file")"
    cp "$file" "$1$file"
  fi
}

try() {  # USER
  local user=$1 root=$directory/$1 home environment
  say "./dev $command on a fresh $release as $user"
  cp -a "$directory/base" "$root"
  mount_debian_root "$root"
  if [[ $user != root ]]; then
    chroot "$root" env -i PATH="$path" DEBIAN_FRONTEND=noninteractive sh -c \
      'apt-get -q update && apt-get -qy --no-install-recommends install sudo' \
      >"$directory/sudo.log" 2>&1 || { cat "$directory/sudo.log" >&2; return 1; }
    chroot "$root" useradd --create-home --shell /bin/bash "$user"
    echo "$user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$user"
  fi
  home=$(chroot "$root" getent passwd "$user" | cut -d: -f6)
  copy_npm_files "$root" "$user"
  if command -v ccache >/dev/null; then
    mkdir -p "$root$compiled" "$(ccache --get-config cache_dir)"
    mount --bind "$(ccache --get-config cache_dir)" "$root$compiled"
  fi
  git clone -q --depth 1 "file://$PWD" "$root$clone"
  chroot "$root" chown -R "$user:" "$clone"
  local above=$clone
  while above=$(dirname "$above") && [[ $above != / ]]; do chmod a+x "$root$above"; done

  mapfile -t environment < <(ccache_environment "$user"; npm_environment)
  chroot "$root" setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i "${environment[@]}" PATH="$path" \
    HOME="$home" USER="$user" LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    bash -c 'cd "$1" && ./dev "$2"' - "$clone" "$command" || {
    echo "fresh: ./dev $command failed on a fresh $release as $user" >&2
    return 1
  }
  [[ ! -e $root/usr/sbin/policy-rc.d ]] || {
    echo "fresh: a policy-rc.d was left behind" >&2
    return 1
  }
  say "./dev $command succeeded on a fresh $release as $user"
}

make_debian_root "$directory/base" "$release" git
for user in "${passes[@]}"; do
  try "$user"
done
