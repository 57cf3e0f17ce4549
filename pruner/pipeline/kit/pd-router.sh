#!/usr/bin/env bash
# The router in front of a prefill/decode pair. It is a package of its own, which is not pruned: pip install sglang-router
#   PREFILL=http://10.0.0.1:30000 DECODE=http://10.0.0.2:30000 bash pd-router.sh
set -euo pipefail
: "${PREFILL:?the URL of the prefill server}" "${DECODE:?the URL of the decode server}"
exec python3 -m sglang_router.launch_router \
  --pd-disaggregation \
  --prefill "${PREFILL:-http://127.0.0.1:30000}" "${BOOTSTRAP_PORT:-8998}" \
  --decode "${DECODE:-http://127.0.0.1:30001}" \
  --host "${LISTEN:-0.0.0.0}" --port "${PORT:-8000}" \
  "$@"
