#!/usr/bin/env bash
# The prefill side of a prefill/decode pair, on a node of eight cards. IB_DEVICE: the network cards for the KV cache.
set -euo pipefail
exec python3 -m sglang.launch_server \
  --model-path "${MODEL:-deepseek-ai/DeepSeek-R1}" \
  --host "${HOST:-0.0.0.0}" --port "${PORT:-30000}" \
  --tp-size 8 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend "${TRANSFER:-mooncake}" \
  --disaggregation-bootstrap-port "${BOOTSTRAP_PORT:-8998}" \
  --disaggregation-ib-device "${IB_DEVICE:-mlx5_0}" \
  --reasoning-parser deepseek-r1 \
  --enable-metrics \
  "$@"
