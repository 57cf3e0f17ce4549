#!/usr/bin/env bash
# The decode side of a prefill/decode pair, on a node of eight H200. It refuses a prefill server of another build.
# TRANSFER: how the KV cache goes over, by a package of its own that both nodes need: mooncake (pip install
# mooncake-transfer-engine) or nixl (pip install nixl). IB_DEVICE: network cards for it, as mlx5_0,mlx5_1; else it looks for them.
set -euo pipefail
exec python3 -m sglang.launch_server \
  --model-path "${MODEL:-deepseek-ai/DeepSeek-R1}" \
  --host "${LISTEN:-0.0.0.0}" --port "${PORT:-30000}" \
  --tp-size 8 \
  --disaggregation-mode decode \
  --disaggregation-transfer-backend "${TRANSFER:-mooncake}" \
  ${IB_DEVICE:+--disaggregation-ib-device "$IB_DEVICE"} \
  --reasoning-parser deepseek-r1 \
  --enable-metrics \
  "$@"
