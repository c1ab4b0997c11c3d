# A clean minimal Debian in a folder, made by debootstrap, to try things in. Sourced, by bash scripts
# that need root:
#
#   in_namespaces ROOT "$0" "$@"        first: the script goes on in namespaces of its own
#   make_debian_root ROOT RELEASE [PACKAGE…]
#   mount_debian_root ROOT
#
# Downloads stay in ~/.cache/memprof-debian for the next time.
debian_cache=${XDG_CACHE_HOME:-$HOME/.cache}/memprof-debian

# Runs the script anew, as root in a mount and a pid namespace of its own, and there returns. However
# that one ends, or is interrupted: its processes and mounts end with it, and ROOT is removed.
in_namespaces() {  # ROOT SCRIPT [ARGUMENT…]
  [[ ! ${MEMPROF_IN_NAMESPACES:-} ]] || return 0
  ((EUID == 0)) || exec sudo "${@:2}"
  mkdir -p "$debian_cache"
  # One at a time: apt-get's folder of downloads is shared.
  exec 8>"$debian_cache/lock"
  flock -n 8 || { echo "waiting for another clean root to end"; flock 8; }
  rm -rf --one-file-system "$1"  # a killed one left it
  mkdir -p "$1"
  debian_root_of_namespaces=$1 namespaces=
  trap end_namespaces EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
  # Killed even if we are killed, which no trap sees.
  MEMPROF_IN_NAMESPACES=1 setpriv --pdeathsig KILL \
    unshare --mount --pid --fork --kill-child "${@:2}" &
  namespaces=$!
  local status=0
  wait "$namespaces" || status=$?
  exit "$status"
}

end_namespaces() {
  local status=$?
  # unshare's child is the first process of the namespace; when that has ended all others have.
  if [[ $namespaces ]] && kill -0 "$namespaces" 2>/dev/null; then
    kill -KILL $(<"/proc/$namespaces/task/$namespaces/children") 2>/dev/null || kill -KILL "$namespaces"
    wait "$namespaces" 2>/dev/null || true
  fi
  # Nothing is mounted there: the mounts were the namespace's.
  rm -rf --one-file-system "$debian_root_of_namespaces"
  exit "$status"
}

# The sources of this machine's own packages: "URI SUITE", the suites named as those of RELEASE.
debian_sources() {  # RELEASE
  local own
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(LABEL)' 'Created-By: Packages' |
    awk -v own="$own" -v release="$1" '
      $2 ~ "^" own "(-security|-updates)?$" && $3 ~ /^Debian(-Security)?$/ && !seen[$1 $2]++ {
        sub(own, release, $2); print $1, $2
      }'
}

# RELEASE in ROOT, with the required packages, apt and those named, and what apt needs to know.
make_debian_root() {  # ROOT RELEASE [PACKAGE…]
  local root=$1 release=$2 packages=("${@:3}") mirror log
  mirror=$(debian_sources "$release" | awk -v release="$release" '$2 == release { print $1; exit }')
  [[ $mirror ]] || { echo "debian_root: apt names no mirror of Debian" >&2; return 1; }
  mkdir -p "$debian_cache/downloads"
  rm -rf --one-file-system "$root"
  log=$root.log
  mkdir -p "$root"
  echo "making a clean root of $release"
  debootstrap --variant=minbase --cache-dir="$debian_cache/downloads" \
    ${packages[0]:+--include="$(IFS=,; echo "${packages[*]}")"} "$release" "$root" "$mirror" \
    >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    return 1
  }
  debian_sources "$release" | sed 's/.*/deb & main/' >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-)' \
    >"$root/etc/apt/apt.conf.d/90machine" || true
  # It is thrown away: no use waiting for the disk.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  printf '127.0.0.1 localhost %s\n::1 localhost\n' "$(hostname)" >"$root/etc/hosts"
  # An authority that this machine trusts besides, as behind a proxy.
  if [[ -d /usr/local/share/ca-certificates ]]; then
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp -r /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates"
  fi
}

mount_debian_root() {  # ROOT
  mount -t proc proc "$1/proc"
  mount -t sysfs -o ro sysfs "$1/sys"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$1/dev/pts"
  ln -sf pts/ptmx "$1/dev/ptmx"
  mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
  mkdir -p "$debian_cache/downloads"
  mount --bind "$debian_cache/downloads" "$1/var/cache/apt/archives"
}
