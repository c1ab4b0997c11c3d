#!/usr/bin/env bash
# Builds, or fetches, the systems that tests/engines asks: tools/engines.sh FOLDER
#
# Prometheus is Debian's. Parca is built from its Go module, which has no web pages: an empty one stands
# in their place. Pyroscope's module needs its own api module of the same commit, which the proxy of Go
# modules doesn't have: it is left out. What can't be had is said, and skipped by the test.
set -euo pipefail
parca=github.com/parca-dev/parca@v0.18.0
mkdir -p "$1"
folder=$(cd "$1" && pwd)

if [[ ! -x $folder/prometheus ]]; then
  work=$(mktemp -d)
  if (cd "$work" && apt-get download -q prometheus >/dev/null 2>&1 && dpkg -x prometheus_*.deb .); then
    mv "$work/usr/bin/prometheus" "$folder/"
  else
    echo "engines: prometheus can't be downloaded: skipped" >&2
  fi
  rm -rf "$work"
fi

if [[ ! -x $folder/parca ]]; then
  export GOFLAGS=-mod=mod GOWORK=off
  work=$(mktemp -d)
  # Its parquet module refers to the runtime by name, which linkers from Go 1.23 on refuse.
  if source=$(go mod download -json "$parca" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') && [[ -n $source ]] &&
    cp -r "$source/." "$work" && chmod -R u+w "$work" && mkdir -p "$work/ui/packages/app/web/build" &&
    echo '<html></html>' >"$work/ui/packages/app/web/build/index.html" &&
    (cd "$work" && nice -n 15 timeout 3600 go build -ldflags=-checklinkname=0 -o "$folder/parca" ./cmd/parca); then
    :
  else
    echo "engines: $parca can't be built here: skipped" >&2
  fi
  rm -rf "$work"
fi
echo "engines: pyroscope is skipped: its api module of the same commit isn't on the module proxy" >&2
