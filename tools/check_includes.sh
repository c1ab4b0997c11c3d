#!/usr/bin/env bash
# Includes point one way: core ← formats ← cli, core ← aggregator; aggregator and cli never meet.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
forbid() { # FOLDER REGEX-OF-INCLUDES
  if grep -rnE "#include \"($2)/" "$1" --include='*.h' --include='*.cc'; then
    echo "$1/ must not include $2/" >&2
    status=1
  fi
}
forbid core 'formats|aggregator|cli|tests'
forbid formats 'aggregator|cli|tests'
forbid aggregator 'formats|cli|tests'
forbid cli 'aggregator|tests'
# The tracker takes the freestanding headers of core alone.
if grep -rnE '#include "core/' aggregator | grep -vE '"core/(region_layout|cell_chunks|handshake|children_area|attach_protocol|sample_weight|allocator_kind|unsupervised)\.h"'; then
  echo "aggregator/ may include core/region_layout.h, handshake.h, children_area.h, attach_protocol.h, sample_weight.h, allocator_kind.h and unsupervised.h only" >&2
  status=1
fi
exit $status
