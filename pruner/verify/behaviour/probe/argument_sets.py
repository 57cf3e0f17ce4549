"""The argument sets that are resolved on both trees: name, checkpoint, words of the command line."""

from __future__ import annotations

EAGLE = "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
TREE = "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8"
FP4 = "--quantization modelopt_fp4"
DPA = "--tp 8 --dp 8 --enable-dp-attention"

SETS: tuple[tuple[str, str, str], ...] = (
    ("default", "r1", "--tp 8"),
    ("single", "v2-lite", ""),
    ("v2 tp8", "v2", "--tp 8"),
    ("v1", "v1", ""),
    ("bf16 two nodes", "bf16", "--tp 16 --nnodes 2 --node-rank 0 --dist-init-addr 127.0.0.1:5000"),
    ("second node", "r1", "--tp 16 --nnodes 2 --node-rank 1 --dist-init-addr 127.0.0.1:5000"),
    ("v32", "v32", "--tp 8"),
    ("v32 bf16", "v32-bf16", "--tp 8"),
    ("v32 dp attention", "v32", DPA),
    ("v32 fp8 cache", "v32", "--tp 8 --kv-cache-dtype fp8_e4m3"),
    ("v32 bf16 cache", "v32", "--tp 8 --kv-cache-dtype bfloat16"),
    ("v32 backends", "v32", "--tp 8 --dsa-prefill-backend flashmla_sparse --dsa-decode-backend flashmla_kv"),
    ("v32 tilelang", "v32", "--tp 8 --dsa-prefill-backend tilelang --dsa-decode-backend tilelang"),
    ("v32 nsa name", "v32", "--tp 8 --attention-backend nsa --nsa-decode-backend fa3"),
    ("v32 eagle", "v32", f"--tp 8 {EAGLE}"),
    ("v32 context parallel", "v32", "--tp 8 --enable-nsa-prefill-context-parallel"),
    ("nvfp4", "nvfp4", "--tp 8 --quantization modelopt_fp4"),
    ("nvfp4 auto", "nvfp4", "--tp 8"),
    ("nvfp4 trtllm", "nvfp4", f"{FP4} --tp 8 --moe-runner-backend flashinfer_trtllm --attention-backend trtllm_mla"),
    ("nvfp4 cutedsl", "nvfp4", f"{FP4} {DPA} --ep 8 --moe-runner-backend flashinfer_cutedsl --moe-a2a-backend deepep"),
    ("nvfp4 cutlass", "nvfp4", f"{FP4} --tp 8 --ep 8 --moe-runner-backend flashinfer_cutlass"),
    ("nvfp4 online", "bf16", "--tp 8 --quantization nvfp4_online"),
    ("awq", "awq", "--tp 8"),
    ("awq marlin", "awq", "--tp 8 --quantization awq_marlin"),
    ("moe wna16", "awq", "--tp 8 --quantization moe_wna16"),
    ("gptq", "gptq", "--tp 8"),
    ("w4afp8", "w4afp8", "--tp 8 --ep 8"),
    ("int8", "int8", "--tp 8 --quantization w8a8_int8"),
    ("channel fp8", "channel-fp8", "--tp 8"),
    ("online fp8", "bf16", "--tp 8 --quantization fp8"),
    ("mxfp8", "bf16", "--tp 8 --quantization mxfp8"),
    ("bitsandbytes", "v2-lite", "--quantization bitsandbytes --load-format bitsandbytes"),
    *(
        (f"attention {name}", "r1", f"--tp 8 --attention-backend {name}")
        for name in (
            "triton",
            "fa3",
            "fa4",
            "flashinfer",
            "flashmla",
            "cutlass_mla",
            "trtllm_mla",
            "cutedsl_mla",
            "tokenspeed_mla",
            "torch_native",
            "flex_attention",
        )
    ),
    ("prefill and decode backends", "r1", "--tp 8 --prefill-attention-backend fa3 --decode-attention-backend flashmla"),
    *(
        (f"moe {name}", "r1", f"--tp 8 --moe-runner-backend {name}")
        for name in ("triton", "deep_gemm", "cutlass", "flashinfer_trtllm", "flashinfer_cutlass", "flashinfer_cutedsl")
    ),
    ("moe triton_kernel", "bf16", "--tp 8 --moe-runner-backend triton_kernel"),
    *(
        (f"fp8 gemm {name}", "r1", f"--tp 8 --fp8-gemm-backend {name}")
        for name in ("deep_gemm", "flashinfer_trtllm", "cutlass", "triton")
    ),
    ("dp attention", "r1", DPA),
    ("dp attention 2", "r1", "--tp 8 --dp 2 --enable-dp-attention"),
    ("dp lm head", "r1", f"{DPA} --enable-dp-lm-head --moe-dense-tp-size 1"),
    ("deepep", "r1", f"{DPA} --moe-a2a-backend deepep --deepep-mode auto"),
    ("deepep low latency", "r1", f"{DPA} --moe-a2a-backend deepep --deepep-mode low_latency"),
    ("mooncake a2a", "r1", f"{DPA} --moe-a2a-backend mooncake --elastic-ep-backend mooncake"),
    (
        "flashinfer a2a",
        "nvfp4",
        f"{FP4} {DPA} --ep 8 --moe-a2a-backend flashinfer --moe-runner-backend flashinfer_cutlass",
    ),
    ("eplb", "r1", f"{DPA} --moe-a2a-backend deepep --enable-eplb --ep-num-redundant-experts 32"),
    ("two batch overlap", "r1", f"{DPA} --moe-a2a-backend deepep --enable-two-batch-overlap"),
    ("single batch overlap", "nvfp4", f"{FP4} {DPA} --moe-a2a-backend deepep --enable-single-batch-overlap"),
    ("pipeline", "r1", "--tp 4 --pp-size 2"),
    ("data parallel", "v2-lite", "--dp 4"),
    ("eagle", "r1", f"--tp 8 {EAGLE}"),
    ("eagle default numbers", "r1", "--tp 8 --speculative-algorithm EAGLE"),
    ("eagle tree", "r1", f"--tp 8 {TREE} --attention-backend triton"),
    ("nextn name", "r1", "--tp 8 --speculative-algorithm NEXTN"),
    ("eagle draft", "bf16", f"--tp 8 {EAGLE} --speculative-draft-model-path {{nextn}}"),
    ("eagle3", "bf16", f"--tp 8 {EAGLE.replace('EAGLE', 'EAGLE3')} --speculative-draft-model-path {{eagle3}}"),
    ("eagle dp attention", "r1", f"{DPA} {EAGLE} --moe-a2a-backend deepep"),
    ("eagle adaptive", "r1", f"--tp 8 {EAGLE} --speculative-adaptive"),
    ("ngram", "v2-lite", "--speculative-algorithm NGRAM --speculative-num-draft-tokens 8"),
    ("standalone", "r1", f"--tp 8 {EAGLE.replace('EAGLE', 'STANDALONE')} --speculative-draft-model-path {{v2-lite}}"),
    ("prefill server", "r1", "--tp 8 --disaggregation-mode prefill --disaggregation-transfer-backend mooncake"),
    ("decode server", "r1", f"{DPA} --disaggregation-mode decode --disaggregation-transfer-backend nixl"),
    ("fake transfer", "r1", "--tp 8 --disaggregation-mode decode --disaggregation-transfer-backend fake"),
    ("hierarchical cache", "r1", "--tp 8 --enable-hierarchical-cache --hicache-ratio 2 --hicache-storage-backend file"),
    ("hierarchical direct", "r1", "--tp 8 --enable-hierarchical-cache --hicache-io-backend direct --hicache-size 10"),
    ("deterministic", "r1", "--tp 8 --enable-deterministic-inference"),
    ("deterministic triton", "v2-lite", "--enable-deterministic-inference --attention-backend triton"),
    ("mixed chunk", "r1", "--tp 8 --enable-mixed-chunk --chunked-prefill-size 4096"),
    ("no radix", "r1", "--tp 8 --disable-radix-cache --schedule-policy lpm"),
    ("no graphs", "r1", "--tp 8 --disable-cuda-graph"),
    ("small graphs", "v2-lite", "--cuda-graph-max-bs 8 --mem-fraction-static 0.5"),
    ("compile", "v2-lite", "--enable-torch-compile --torch-compile-max-bs 4"),
    ("symmetric memory", "r1", "--tp 8 --enable-symm-mem"),
    ("memory saver", "v2-lite", "--enable-memory-saver --enable-weights-cpu-backup"),
    ("fp8 cache", "r1", "--tp 8 --kv-cache-dtype fp8_e4m3"),
    ("fp8 e5m2 cache", "v2-lite", "--kv-cache-dtype fp8_e5m2"),
    ("page 64", "r1", "--tp 8 --page-size 64"),
    ("lora", "v2-lite", "--enable-lora --max-lora-rank 16 --lora-target-modules q_proj o_proj"),
    ("metrics", "r1", "--tp 8 --enable-metrics --enable-trace --collect-tokens-histogram"),
    ("parsers", "r1", "--tp 8 --reasoning-parser deepseek-r1 --tool-call-parser deepseekv31"),
    ("auto parsers", "r1", "--tp 8 --reasoning-parser auto --tool-call-parser auto"),
    ("grammar", "r1", "--tp 8 --grammar-backend llguidance"),
    ("sampling", "r1", "--tp 8 --sampling-backend pytorch"),
    ("dtype", "v2-lite", "--dtype float16"),
    ("short context", "r1", "--tp 8 --context-length 8192"),
    ("too long context", "r1", "--tp 8 --context-length 200000"),
    ("offload", "v2-lite", "--cpu-offload-gb 4"),
    ("grpc", "v2-lite", "--grpc-mode"),
    ("many tokenizers", "v2-lite", "--tokenizer-worker-num 4"),
    ("embedding", "v2-lite", "--is-embedding"),
    ("reward override", "v2-lite", '--json-model-override-args {"num_hidden_layers":4}'),
    (
        "remote loader",
        "r1",
        "--tp 8 --load-format remote_instance --remote-instance-weight-loader-seed-instance-ip 1.2.3.4",
    ),
    ("unknown parser", "v2-lite", "--tool-call-parser nobody"),
)
# What rules may take besides: such a set resolves as upstream does, or is refused with the rule.
MAY_GO = frozenset({"embedding"})
# What a build for NVIDIA GPUs and DeepSeek no longer has: it must be refused with the rule, not resolve to something
# else.
REMOVED: tuple[tuple[str, str, str], ...] = (
    ("removed: device cpu", "v2-lite", "--device cpu"),
    ("removed: device npu", "v2-lite", "--device npu"),
    ("removed: device xpu", "v2-lite", "--device xpu"),
    ("removed: attention aiter", "r1", "--tp 8 --attention-backend aiter"),
    ("removed: attention ascend", "r1", "--tp 8 --attention-backend ascend"),
    ("removed: quantization quark", "bf16", "--tp 8 --quantization quark"),
    ("removed: quantization gguf", "v2-lite", "--quantization gguf"),
    ("removed: moe aiter", "r1", "--tp 8 --moe-runner-backend aiter"),
    ("removed: a2a mori", "r1", f"{DPA} --moe-a2a-backend mori"),
    ("removed: moe hpc_ops", "r1", "--tp 8 --moe-runner-backend hpc_ops"),
    ("removed: drafter dflash", "r1", "--tp 8 --speculative-algorithm dflash --speculative-draft-model-path {v2-lite}"),
    ("removed: drafter frozen", "r1", "--tp 8 --speculative-algorithm FROZEN_KV_MTP"),
    ("removed: canary", "r1", "--tp 8 --kv-canary log"),
    ("removed: parser qwen3", "r1", "--tp 8 --reasoning-parser qwen3"),
    ("removed: model llama", "llama", ""),
    ("removed: model qwen3 moe", "qwen3-moe", ""),
)
# Of these only where the rule speaks of the release.
RULED = {"removed: canary": "deepseek.drop.canary"}
