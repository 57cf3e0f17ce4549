"""Tiny DeepSeek checkpoints with the real parameter names, random weights and a byte-level tokenizer.

``bf16`` and ``fp8`` are V3 (sigmoid router in groups, q-LoRA; FP8 with [128, 128] block scales), ``v2`` is V2-Lite's
shape (softmax router, no q-LoRA), ``v32`` V3.2 with the sparse-attention indexer, ``mtp`` and ``mtpfp8`` V3 with one
next-token-prediction layer; ``other`` is ``bf16`` with other weights and ``adapter`` a LoRA adapter for it.
Every tensor has a generator of its own, seeded by its name: the same bytes on every host.

Blind to what only real weights show: long-range attention, balanced experts, magnitudes outside a normal distribution.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any

Config = dict[str, Any]
VARIANTS = ("bf16", "fp8", "v2", "v32", "mtp", "mtpfp8", "other", "adapter")
HIDDEN, LAYERS, HEADS, VOCAB = 1024, 4, 16, 4096
KV_RANK, ROPE, NOPE, VALUE, Q_RANK = 512, 64, 128, 128, 512
EXPERTS, EXPERT_WIDTH, WIDTH = 32, 256, 2048
INDEX_HEADS, INDEX_WIDTH, INDEX_TOP = 64, 128, 2048
BLOCK = 128
FP8_MAX = 448.0
LORA_RANK = 8
WHOLE = "complete"  # written last: its presence says that the folder is whole


def config(variant: str) -> Config:
    """``config.json`` of a variant."""
    v2, v32, mtp = variant == "v2", variant == "v32", variant.startswith("mtp")
    family = "v2" if v2 else "v32" if v32 else "v3"
    made: Config = {
        "architectures": [{"v2": "DeepseekV2", "v32": "DeepseekV32", "v3": "DeepseekV3"}[family] + "ForCausalLM"],
        "model_type": f"deepseek_{family}",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "ep_size": 1,
        "first_k_dense_replace": 1,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "initializer_range": 0.02,
        "intermediate_size": WIDTH,
        "kv_lora_rank": KV_RANK,
        "max_position_embeddings": 163840,
        "moe_intermediate_size": EXPERT_WIDTH,
        "moe_layer_freq": 1,
        "n_group": 1 if v2 else 8,
        "n_routed_experts": EXPERTS,
        "n_shared_experts": 1,
        "norm_topk_prob": not v2,
        "num_attention_heads": HEADS,
        "num_experts_per_tok": 6 if v2 else 8,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": HEADS,
        "num_nextn_predict_layers": int(mtp),
        "q_lora_rank": None if v2 else Q_RANK,
        "qk_nope_head_dim": NOPE,
        "qk_rope_head_dim": ROPE,
        "v_head_dim": VALUE,
        "rms_norm_eps": 1e-6,
        "rope_scaling": {
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 40,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
        "rope_theta": 10000,
        "routed_scaling_factor": 1.0 if v2 else 2.5,
        "scoring_func": "softmax" if v2 else "sigmoid",
        "tie_word_embeddings": False,
        "topk_group": 1 if v2 else 4,
        "topk_method": "greedy" if v2 else "noaux_tc",
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "vocab_size": VOCAB,
    }
    if v32:
        made |= {"index_head_dim": INDEX_WIDTH, "index_n_heads": INDEX_HEADS, "index_topk": INDEX_TOP}
    if quantised(variant):
        made["quantization_config"] = {
            "activation_scheme": "dynamic",
            "fmt": "e4m3",
            "quant_method": "fp8",
            "weight_block_size": [BLOCK, BLOCK],
        }
    return made


def quantised(variant: str) -> bool:
    return variant in ("fp8", "v32", "mtpfp8")


class Weights:
    """Named tensors of one checkpoint. Needs torch."""

    def __init__(self, variant: str) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.tensors: dict[str, Any] = {}
        self.fp8 = quantised(variant)
        self.salt = "other " if variant == "other" else ""

    def normal(self, name: str, *shape: int, deviation: float | None = None, dtype: Any = None) -> None:
        """Normally distributed; the deviation is by default that which keeps a product's size."""
        seed = int.from_bytes(hashlib.sha256((self.salt + name).encode()).digest()[:6], "big")
        generator = self.torch.Generator().manual_seed(seed)
        tensor = self.torch.empty(*shape)
        tensor.normal_(0, shape[-1] ** -0.5 if deviation is None else deviation, generator=generator)
        self.tensors[name] = tensor.to(dtype or self.torch.bfloat16)

    def norm(self, name: str, size: int) -> None:
        """The scale of a norm, near one."""
        self.normal(name, size, deviation=0.1, dtype=self.torch.float32)
        self.tensors[name] = (1 + self.tensors[name]).to(self.torch.bfloat16)

    def linear(self, name: str, out: int, into: int, quantise: bool = True) -> None:
        """A linear layer, in FP8 blocks where the variant says so."""
        self.normal(f"{name}.weight", out, into)
        if not (self.fp8 and quantise):
            return
        weight = self.tensors[f"{name}.weight"].float()
        rows, columns = -(-out // BLOCK), -(-into // BLOCK)
        padded = self.torch.zeros(rows * BLOCK, columns * BLOCK)
        padded[:out, :into] = weight
        blocks = padded.view(rows, BLOCK, columns, BLOCK)
        scale = (blocks.abs().amax(dim=(1, 3)) / FP8_MAX).clamp(min=1e-8)
        scaled = (blocks / scale[:, None, :, None]).view(rows * BLOCK, columns * BLOCK)[:out, :into]
        self.tensors[f"{name}.weight"] = scaled.to(self.torch.float8_e4m3fn).contiguous()
        self.tensors[f"{name}.weight_scale_inv"] = scale.float().contiguous()


def write_weights(weights: Weights, made: Config) -> None:
    """All tensors of a model of this configuration."""
    weights.normal("model.embed_tokens.weight", VOCAB, HIDDEN, deviation=1.0)
    for index in range(LAYERS):
        _layer(weights, made, index, dense=index < made["first_k_dense_replace"])
    weights.norm("model.norm.weight", HIDDEN)
    weights.normal("lm_head.weight", VOCAB, HIDDEN, deviation=0.15)
    if made["num_nextn_predict_layers"]:
        _layer(weights, made, LAYERS, dense=False)
        prefix = f"model.layers.{LAYERS}."
        weights.tensors[f"{prefix}embed_tokens.weight"] = weights.tensors["model.embed_tokens.weight"].clone()
        weights.norm(f"{prefix}enorm.weight", HIDDEN)
        weights.norm(f"{prefix}hnorm.weight", HIDDEN)
        weights.linear(f"{prefix}eh_proj", HIDDEN, 2 * HIDDEN, quantise=False)
        weights.norm(f"{prefix}shared_head.norm.weight", HIDDEN)
        weights.tensors[f"{prefix}shared_head.head.weight"] = weights.tensors["lm_head.weight"].clone()


def _layer(weights: Weights, made: Config, index: int, dense: bool) -> None:
    prefix = f"model.layers.{index}."
    weights.norm(f"{prefix}input_layernorm.weight", HIDDEN)
    weights.norm(f"{prefix}post_attention_layernorm.weight", HIDDEN)
    _attention(weights, made, f"{prefix}self_attn.")
    if dense:
        _mlp(weights, f"{prefix}mlp.", WIDTH)
        return
    weights.normal(f"{prefix}mlp.gate.weight", EXPERTS, HIDDEN)
    if made["topk_method"] == "noaux_tc":
        bias = f"{prefix}mlp.gate.e_score_correction_bias"
        weights.normal(bias, EXPERTS, deviation=0.05, dtype=weights.torch.float32)
    for expert in range(EXPERTS):
        _mlp(weights, f"{prefix}mlp.experts.{expert}.", EXPERT_WIDTH)
    _mlp(weights, f"{prefix}mlp.shared_experts.", EXPERT_WIDTH)


def _attention(weights: Weights, made: Config, prefix: str) -> None:
    if made["q_lora_rank"]:
        weights.linear(f"{prefix}q_a_proj", Q_RANK, HIDDEN)
        weights.norm(f"{prefix}q_a_layernorm.weight", Q_RANK)
        weights.linear(f"{prefix}q_b_proj", HEADS * (NOPE + ROPE), Q_RANK)
    else:
        weights.linear(f"{prefix}q_proj", HEADS * (NOPE + ROPE), HIDDEN)
    weights.linear(f"{prefix}kv_a_proj_with_mqa", KV_RANK + ROPE, HIDDEN)
    weights.norm(f"{prefix}kv_a_layernorm.weight", KV_RANK)
    weights.linear(f"{prefix}kv_b_proj", HEADS * (NOPE + VALUE), KV_RANK)
    weights.linear(f"{prefix}o_proj", HIDDEN, HEADS * VALUE)
    if "index_topk" in made:
        weights.linear(f"{prefix}indexer.wq_b", INDEX_HEADS * INDEX_WIDTH, Q_RANK)
        weights.linear(f"{prefix}indexer.wk", INDEX_WIDTH, HIDDEN)
        weights.norm(f"{prefix}indexer.k_norm.weight", INDEX_WIDTH)
        weights.normal(f"{prefix}indexer.k_norm.bias", INDEX_WIDTH, deviation=0.1)
        weights.linear(f"{prefix}indexer.weights_proj", INDEX_HEADS, HIDDEN, quantise=False)


def _mlp(weights: Weights, prefix: str, width: int) -> None:
    weights.linear(f"{prefix}gate_proj", width, HIDDEN)
    weights.linear(f"{prefix}up_proj", width, HIDDEN)
    weights.linear(f"{prefix}down_proj", HIDDEN, width)


def adapter(weights: Weights) -> Config:
    """A LoRA adapter for two projections of every layer; its ``adapter_config.json``."""
    shapes = {"q_b_proj": (HEADS * (NOPE + ROPE), Q_RANK), "o_proj": (HIDDEN, HEADS * VALUE)}
    for layer in range(LAYERS):
        for name, (out, into) in shapes.items():
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            weights.normal(f"{prefix}.lora_A.weight", LORA_RANK, into)
            weights.normal(f"{prefix}.lora_B.weight", out, LORA_RANK)
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "bf16",
        "r": LORA_RANK,
        "lora_alpha": 2 * LORA_RANK,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted(shapes),
    }


def write(folder: Path, variant: str) -> None:
    """Make one checkpoint, unless it is there. Raises ValueError for an unknown variant."""
    from pruner.parity import tokenizer

    if variant not in VARIANTS:
        raise ValueError(f"no checkpoint is called {variant}")
    if (folder / WHOLE).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    weights = Weights(variant)
    if variant == "adapter":
        (folder / "adapter_config.json").write_text(json.dumps(adapter(weights), indent=1))
        name = "adapter_model.safetensors"
    else:
        made = config(variant)
        write_weights(weights, made)
        write_config(folder, variant)
        tokenizer.write(folder, VOCAB)
        name = "model.safetensors"
        index = dict.fromkeys(weights.tensors, name)
        total = sum(tensor.numel() * tensor.element_size() for tensor in weights.tensors.values())
        text = json.dumps({"metadata": {"total_size": total}, "weight_map": index})
        (folder / "model.safetensors.index.json").write_text(text)
    save = importlib.import_module("safetensors.torch").save_file
    save(weights.tensors, str(folder / name), metadata={"format": "pt"})
    (folder / WHOLE).write_text("")


def write_config(folder: Path, variant: str) -> None:
    """Only the configuration: enough to resolve a server's arguments."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(variant), indent=1))
    greedy = {"bos_token_id": 0, "eos_token_id": 1, "do_sample": False}
    (folder / "generation_config.json").write_text(json.dumps(greedy))
