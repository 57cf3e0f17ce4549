#!/usr/bin/env bash
# DeepSeek-R1 or V3, published FP8 weights, on two nodes of eight H100. Run it on both:
#   HEAD=10.0.0.1 NODE_RANK=0 bash r1-fp8-2x8xh100.sh     on the node with that address
#   HEAD=10.0.0.1 NODE_RANK=1 bash r1-fp8-2x8xh100.sh     on the other
# Name the card of the cluster's network by NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME where a node has several.
set -euo pipefail
: "${HEAD:?the address of the node of rank 0}" "${NODE_RANK:?0 on the node of that address, 1 on the other}"
# The server would wait for ever for a rank that nobody is.
case $NODE_RANK in 0 | 1) ;; *) echo "NODE_RANK is $NODE_RANK: 0 or 1, of two nodes" >&2 && exit 2 ;; esac
exec python3 -m sglang.launch_server \
  --model-path "${MODEL:-deepseek-ai/DeepSeek-R1}" \
  --host "${LISTEN:-0.0.0.0}" --port "${PORT:-30000}" \
  --tp-size 16 \
  --nnodes 2 --node-rank "${NODE_RANK:-0}" --dist-init-addr "${HEAD:-127.0.0.1}:${DIST_PORT:-5000}" \
  --reasoning-parser deepseek-r1 \
  --enable-metrics \
  "$@"
