"""Model configurations of the DeepSeek family, without weights: the numbers of the published models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Config = dict[str, Any]

YARN = {
    "beta_fast": 32,
    "beta_slow": 1,
    "factor": 40,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 4096,
    "type": "yarn",
}
V3: Config = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "ep_size": 1,
    "first_k_dense_replace": 3,
    "hidden_act": "silu",
    "hidden_size": 7168,
    "initializer_range": 0.02,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_group": 8,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "norm_topk_prob": True,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "rms_norm_eps": 1e-06,
    "rope_scaling": YARN,
    "rope_theta": 10000,
    "routed_scaling_factor": 2.5,
    "scoring_func": "sigmoid",
    "tie_word_embeddings": False,
    "topk_group": 4,
    "topk_method": "noaux_tc",
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "v_head_dim": 128,
    "vocab_size": 129280,
}
V2_LITE: Config = {
    **V3,
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "first_k_dense_replace": 1,
    "hidden_size": 2048,
    "intermediate_size": 10944,
    "moe_intermediate_size": 1408,
    "n_group": 1,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "norm_topk_prob": False,
    "num_attention_heads": 16,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 27,
    "num_key_value_heads": 16,
    "q_lora_rank": None,
    "rope_scaling": {**YARN, "mscale": 0.707, "mscale_all_dim": 0.707},
    "routed_scaling_factor": 1.0,
    "scoring_func": "softmax",
    "topk_group": 1,
    "topk_method": "greedy",
    "vocab_size": 102400,
}
V2: Config = {
    **V2_LITE,
    "hidden_size": 5120,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "q_lora_rank": 1536,
}
V1: Config = {
    "architectures": ["DeepseekForCausalLM"],
    "model_type": "deepseek_v2",
    **{k: V2_LITE[k] for k in ("bos_token_id", "eos_token_id", "hidden_act", "hidden_size", "intermediate_size")},
    **{k: V2_LITE[k] for k in ("moe_intermediate_size", "n_routed_experts", "n_shared_experts", "num_experts_per_tok")},
    **{
        k: V2_LITE[k]
        for k in ("num_attention_heads", "num_key_value_heads", "rms_norm_eps", "vocab_size", "torch_dtype")
    },
    **{k: V2_LITE[k] for k in ("first_k_dense_replace", "moe_layer_freq", "norm_topk_prob", "num_hidden_layers")},
    **{k: V2_LITE[k] for k in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "q_lora_rank")},
    "max_position_embeddings": 16384,
    "rope_theta": 10000,
}
BLOCK_FP8: Config = {
    "activation_scheme": "dynamic",
    "fmt": "e4m3",
    "quant_method": "fp8",
    "weight_block_size": [128, 128],
}
V32: Config = {
    **V3,
    "architectures": ["DeepseekV32ForCausalLM"],
    "model_type": "deepseek_v32",
    "index_head_dim": 128,
    "index_n_heads": 64,
    "index_topk": 2048,
    "quantization_config": BLOCK_FP8,
}
AWQ: Config = {"bits": 4, "group_size": 64, "quant_method": "awq", "version": "gemm", "zero_point": True}
GPTQ: Config = {"bits": 4, "group_size": 128, "desc_act": False, "sym": True, "quant_method": "gptq", "lm_head": False}
W4AFP8: Config = {"quant_method": "w4afp8", "group_size": 128, "weight_block_size": [128, 128]}
INT8: Config = {"quant_method": "w8a8_int8", "is_dynamic": True}
CHANNEL_FP8: Config = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, "dynamic": False},
            "input_activations": {
                "num_bits": 8,
                "type": "float",
                "strategy": "token",
                "symmetric": True,
                "dynamic": True,
            },
        }
    },
}
NVFP4_FILE: Config = {
    "producer": {"name": "modelopt", "version": "0.33.0"},
    "quantization": {
        "quant_algo": "NVFP4",
        "kv_cache_quant_algo": "FP8",
        "group_size": 16,
        "exclude_modules": ["lm_head", "model.layers.*.self_attn*"],
    },
}
EAGLE3: Config = {
    **V3,
    "architectures": ["Eagle3DeepseekV2ForCausalLM"],
    "num_hidden_layers": 1,
    "first_k_dense_replace": 1,
    "draft_vocab_size": 32000,
    "target_hidden_size": 7168,
}
LLAMA: Config = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
QWEN3_MOE: Config = {
    **LLAMA,
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "decoder_sparse_step": 1,
    "head_dim": 128,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
}

# name: (config.json, further files)
CHECKPOINTS: dict[str, tuple[Config, dict[str, Config]]] = {
    "r1": ({**V3, "quantization_config": BLOCK_FP8}, {}),
    "bf16": (V3, {}),
    "v32": (V32, {}),
    "v32-bf16": ({k: v for k, v in V32.items() if k != "quantization_config"}, {}),
    "v2-lite": (V2_LITE, {}),
    "v2": (V2, {}),
    "v1": (V1, {}),
    "nvfp4": (V3, {"hf_quant_config.json": NVFP4_FILE}),
    "awq": ({**V3, "quantization_config": AWQ}, {}),
    "gptq": ({**V3, "quantization_config": GPTQ}, {}),
    "w4afp8": ({**V3, "quantization_config": W4AFP8}, {}),
    "int8": ({**V3, "quantization_config": INT8}, {}),
    "channel-fp8": ({**V3, "quantization_config": CHANNEL_FP8}, {}),
    "nextn": ({**V3, "architectures": ["DeepseekV3ForCausalLMNextN"], "num_hidden_layers": 1}, {}),
    "eagle3": (EAGLE3, {}),
    # not of the family
    "llama": (LLAMA, {}),
    "qwen3-moe": (QWEN3_MOE, {}),
}


def write(folder: Path) -> None:
    """One folder per checkpoint, with its configuration files."""
    for name, (config, files) in CHECKPOINTS.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        generation = {"bos_token_id": 0, "eos_token_id": 1, "do_sample": True, "temperature": 0.6, "top_p": 0.95}
        for file, value in {"config.json": config, "generation_config.json": generation, **files}.items():
            (place / file).write_text(json.dumps(value, indent=1), encoding="utf-8")
