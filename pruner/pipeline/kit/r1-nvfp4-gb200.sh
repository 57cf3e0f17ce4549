#!/usr/bin/env bash
# DeepSeek-R1 in NVFP4 on the four cards of one GB200 tray: attention by data parallelism, experts by expert parallelism.
set -euo pipefail
exec python3 -m sglang.launch_server \
  --model-path "${MODEL:-nvidia/DeepSeek-R1-0528-FP4}" \
  --host "${LISTEN:-0.0.0.0}" --port "${PORT:-30000}" \
  --quantization modelopt_fp4 \
  --attention-backend trtllm_mla \
  --moe-runner-backend flashinfer_trtllm \
  --kv-cache-dtype fp8_e4m3 \
  --tp-size 4 --ep-size 4 --dp-size 4 --enable-dp-attention \
  --reasoning-parser deepseek-r1 \
  --enable-metrics \
  "$@"
