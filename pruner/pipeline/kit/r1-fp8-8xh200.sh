#!/usr/bin/env bash
# DeepSeek-R1 or V3, published FP8 weights, on one node of eight H200.
#   MODEL=/weights/DeepSeek-R1 PORT=30000 bash r1-fp8-8xh200.sh [further options]
set -euo pipefail
exec python3 -m sglang.launch_server \
  --model-path "${MODEL:-deepseek-ai/DeepSeek-R1}" \
  --host "${LISTEN:-0.0.0.0}" --port "${PORT:-30000}" \
  --tp-size 8 \
  --reasoning-parser deepseek-r1 \
  --enable-metrics \
  "$@"
