#!/usr/bin/env bash
# The router in front of a prefill/decode pair. It is a package of its own (sglang-router), which is not pruned.
#   PREFILL=http://10.0.0.1:30000 DECODE=http://10.0.0.2:30000 ./pd-router.sh
set -euo pipefail
exec python3 -m sglang_router.launch_router \
  --pd-disaggregation \
  --prefill "${PREFILL:-http://127.0.0.1:30000}" "${BOOTSTRAP_PORT:-8998}" \
  --decode "${DECODE:-http://127.0.0.1:30001}" \
  --host "${HOST:-0.0.0.0}" --port "${PORT:-8000}" \
  "$@"
