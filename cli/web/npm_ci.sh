#!/bin/sh
# Installs exactly what package-lock.json names into node_modules of the current directory, and touches
# node_modules.stamp; one clear line if it can't.
#
#   npm_ci.sh configure SOURCE_DIR [npm options]    from npm's cache; else asks whether its registry answers
#   npm_ci.sh build SOURCE_DIR [npm options]        from npm's cache or the registry
set -eu
when=$1 source=$2
shift 2
stamp=node_modules.stamp
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" .
install() { npm ci --no-audit --no-fund --loglevel=error "$@" >npm_ci.log 2>&1 && touch "$stamp"; }

if [ "$when" = configure ]; then
  # As new as what it was made from?
  newest=$(ls -t "$stamp" "$source/package.json" "$source/package-lock.json" "$source/.npmrc" \
    "$source/npm_ci.sh" 2>/dev/null | head -n 1)
  [ "$newest" != "$stamp" ] || exit 0
  ! install --offline "$@" || exit 0
  # Once, without the minute of waiting and asking again.
  timeout 20 npm view esbuild version --prefer-online --fetch-retries=0 --fetch-timeout=10000 \
    --loglevel=error >npm_view.log 2>&1 && exit 0
  sed -n 's/^npm \(error\|ERR!\) *//p' npm_view.log | head -n 1 >&2
  echo "memprof: the page's packages (cli/web/package-lock.json) are not in npm's cache, and npm's registry" \
    "does not answer. Build with a network, or name a registry that answers (npm config set registry" \
    "URL), or fill npm's cache where there is a network (npm ci in cli/web) and copy it" \
    "(npm config get cache)." >&2
  exit 1
fi
install --prefer-offline "$@" || {
  cat npm_ci.log >&2
  echo "memprof: npm ci failed; it needs npm's registry, or its cache" >&2
  exit 1
}
