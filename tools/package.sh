#!/usr/bin/env bash
# Builds the Debian package and holds it against what it promises: the same bytes when it is built a
# second time elsewhere, lintian's rules, and a clean root in which it does its main job.
#
#   tools/package.sh DIRECTORY     works in DIRECTORY and leaves the package there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$1"
directory=$(cd "$1" && pwd)

SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l packaging/changelog -STimestamp)
export SOURCE_DATE_EPOCH

# build_in FOLDER: the tracked files as they stand, copied there and built; prints the package.
build_in() {
  rm -rf "$1"
  mkdir -p "$1"
  git ls-files -z | tar --null -T - -c | tar -x -C "$1"
  # Chained: bash doesn't end at an error in here, whose status is asked for.
  (
    cd "$1" && cmake --preset package && cmake --build build/package -- -j"$(nproc)" &&
      cd build/package &&
      umask 022 &&  # CPack gives the archive's members the modes of its own files
      cpack
  ) >"$1.log" 2>&1 || {
    tail -n 40 "$1.log" >&2
    exit 1
  }
  ls "$1"/build/package/*.deb
}

echo "building"
package=$(build_in "$directory/first")
echo "building again, in another folder and with another umask"
again=$(umask 077 && build_in "$directory/a second one, elsewhere")
if ! cmp "$package" "$again"; then
  echo "package: two builds of the same sources differ" >&2
  for deb in "$package" "$again"; do
    dpkg-deb --fsys-tarfile "$deb" | tar -tv --full-time >"${deb%.deb}.list"
  done
  diff "${package%.deb}.list" "${again%.deb}.list" || true
  exit 1
fi
echo "the same $(stat -c %s "$package") bytes twice"

lintian --fail-on error,warning "$package" || {
  echo "package: lintian objects" >&2
  exit 1
}
echo "lintian has no errors and no warnings"

tools/clean_root.sh "$package" "$directory"
cp "$package" "$directory"
echo "package: $directory/$(basename "$package")"
