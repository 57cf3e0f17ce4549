#!/usr/bin/env bash
# The decode side of a prefill/decode pair, on a node of eight cards. It refuses a prefill server of another build.
set -euo pipefail
exec python3 -m sglang.launch_server \
  --model-path "${MODEL:-deepseek-ai/DeepSeek-R1}" \
  --host "${HOST:-0.0.0.0}" --port "${PORT:-30000}" \
  --tp-size 8 \
  --disaggregation-mode decode \
  --disaggregation-transfer-backend "${TRANSFER:-mooncake}" \
  --disaggregation-ib-device "${IB_DEVICE:-mlx5_0}" \
  --reasoning-parser deepseek-r1 \
  --enable-metrics \
  "$@"
