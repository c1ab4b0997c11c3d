#!/bin/sh
# Installs exactly what package-lock.json names into the current directory; one clear line if it
# can't. Usage: npm_ci.sh SOURCE_DIR [npm options]
set -eu
source=$1
shift
if ! command -v npm >/dev/null 2>&1; then
  echo "memprof: npm is needed to build the flame graph page: apt-get install nodejs npm" >&2
  exit 1
fi
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" .
if ! npm ci --no-audit --no-fund --prefer-offline --loglevel=error "$@" >npm_ci.log 2>&1; then
  cat npm_ci.log >&2
  echo "memprof: npm ci failed (it needs the npm registry once for each build folder)" >&2
  exit 1
fi
