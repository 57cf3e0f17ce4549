"""Tiny DeepSeek checkpoints with random weights: the shapes of the family, its parameter names, one seed.

The ranks of the latent cache are the real ones: kernels are written for them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .checkpoints import BLOCK_FP8, V2_LITE, V3, YARN, Config

VOCABULARY = 10240  # the benchmark's prompts hold numbers below 10,000
SMALL: Config = {
    "first_k_dense_replace": 1,
    "hidden_size": 64,
    "intermediate_size": 96,
    "max_position_embeddings": 4096,
    "moe_intermediate_size": 32,
    "n_routed_experts": 16,
    "n_shared_experts": 1,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 4,
    "num_nextn_predict_layers": 0,
    "qk_nope_head_dim": 16,
    "rope_scaling": {**YARN, "original_max_position_embeddings": 64},
    "v_head_dim": 16,
    "vocab_size": VOCABULARY,
}
TINY_V3: Config = {**V3, **SMALL, "n_group": 4, "num_experts_per_tok": 4, "q_lora_rank": 24, "topk_group": 2}
TINY_V2: Config = {**V2_LITE, **SMALL, "num_experts_per_tok": 3}
# A dense and a sparse layer each; the draft has one sparse layer.
TINY: dict[str, Config] = {
    "v3": TINY_V3,
    "v2": TINY_V2,
    "v2 q-lora": {**TINY_V2, "n_group": 4, "q_lora_rank": 24, "topk_group": 2, "topk_method": "group_limited_greedy"},
    "v3 fp8": {
        **TINY_V3,
        "hidden_size": 256,
        "intermediate_size": 256,
        "moe_intermediate_size": 128,
        "q_lora_rank": 128,
        "v_head_dim": 32,
        "quantization_config": BLOCK_FP8,
    },
    "nextn": {
        **TINY_V3,
        "architectures": ["DeepseekV3ForCausalLMNextN"],
        "hidden_size": 512,  # the kernel that joins its two inputs wants a multiple of 256
        "num_hidden_layers": 1,
        "num_nextn_predict_layers": 1,
    },
}


class Weights:
    """The tensors of a checkpoint: each from a generator of its own, seeded by its name."""

    def __init__(self, config: Config) -> None:
        self.config, self.hidden = config, config["hidden_size"]
        self.tensors: dict[str, Any] = {}
        if "NextN" in config["architectures"][0]:
            self._draft()
            return
        self.random("model.embed_tokens.weight", VOCABULARY, self.hidden, scale=1.0)
        for index in range(config["num_hidden_layers"]):
            self._layer(f"model.layers.{index}.", index < config["first_k_dense_replace"])
        self.ones("model.norm.weight", self.hidden)
        self.random("lm_head.weight", VOCABULARY, self.hidden)

    def random(self, name: str, *shape: int, scale: float | None = None, exact: bool = False) -> None:
        """A normal distribution that keeps the size of what it is multiplied with."""
        import torch

        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
        drawn = torch.empty(*shape).normal_(
            0, shape[-1] ** -0.5 if scale is None else scale, generator=torch.Generator().manual_seed(seed)
        )
        self.tensors[name] = drawn if exact else drawn.to(torch.bfloat16)

    def matrix(self, name: str, rows: int, columns: int) -> None:
        """A linear layer's weight; with a quantised checkpoint in blocks of float8, each with its scale."""
        import torch

        self.random(name, rows, columns)
        if "quantization_config" not in self.config:
            return
        size = self.config["quantization_config"]["weight_block_size"][0]
        down, across = -(-rows // size), -(-columns // size)
        padded = torch.zeros(down * size, across * size)
        padded[:rows, :columns] = self.tensors[name].float()
        blocks = padded.view(down, size, across, size)
        scale = (blocks.abs().amax(dim=(1, 3)) / 448.0).clamp(min=1e-8)  # the largest float8_e4m3fn
        whole = (blocks / scale[:, None, :, None]).view(down * size, across * size)[:rows, :columns]
        self.tensors[name] = whole.to(torch.float8_e4m3fn).contiguous()
        self.tensors[f"{name}_scale_inv"] = scale

    def ones(self, name: str, size: int) -> None:
        """A norm's weight."""
        self.random(name, size, scale=0.1)
        self.tensors[name] += 1

    def _gate(self, prefix: str, size: int) -> None:
        for name in ("gate_proj", "up_proj"):
            self.matrix(f"{prefix}{name}.weight", size, self.hidden)
        self.matrix(f"{prefix}down_proj.weight", self.hidden, size)

    def _layer(self, prefix: str, dense: bool) -> None:
        c, own = self.config, f"{prefix}self_attn."
        heads, nope, rope, value = (
            c[k] for k in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        )
        rank, low = c["kv_lora_rank"], c["q_lora_rank"]
        for name in ("input_layernorm", "post_attention_layernorm"):
            self.ones(f"{prefix}{name}.weight", self.hidden)
        if low:
            self.matrix(f"{own}q_a_proj.weight", low, self.hidden)
            self.ones(f"{own}q_a_layernorm.weight", low)
        self.matrix(f"{own}{'q_b_proj' if low else 'q_proj'}.weight", heads * (nope + rope), low or self.hidden)
        self.matrix(f"{own}kv_a_proj_with_mqa.weight", rank + rope, self.hidden)
        self.ones(f"{own}kv_a_layernorm.weight", rank)
        self.matrix(f"{own}kv_b_proj.weight", heads * (nope + value), rank)
        self.matrix(f"{own}o_proj.weight", self.hidden, heads * value)
        if dense:
            self._gate(f"{prefix}mlp.", c["intermediate_size"])
            return
        self.random(f"{prefix}mlp.gate.weight", c["n_routed_experts"], self.hidden)
        if c["topk_method"] == "noaux_tc":
            self.random(f"{prefix}mlp.gate.e_score_correction_bias", c["n_routed_experts"], scale=0.05, exact=True)
        for expert in range(c["n_routed_experts"]):
            self._gate(f"{prefix}mlp.experts.{expert}.", c["moe_intermediate_size"])
        self._gate(f"{prefix}mlp.shared_experts.", c["moe_intermediate_size"] * c["n_shared_experts"])

    def _draft(self) -> None:
        prefix = f"model.layers.{self.config['num_hidden_layers'] - 1}."
        self._layer(prefix, False)
        for name in ("enorm", "hnorm", "shared_head.norm"):
            self.ones(f"{prefix}{name}.weight", self.hidden)
        self.random(f"{prefix}eh_proj.weight", self.hidden, 2 * self.hidden)
        for name in ("embed_tokens", "shared_head.head"):
            self.random(f"{prefix}{name}.weight", VOCABULARY, self.hidden)


def write(folder: Path, name: str) -> Path:
    """The checkpoint's folder."""
    from safetensors.torch import save_file  # type: ignore[import-not-found]

    place = folder / f"tiny-{name.replace(' ', '-')}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.json").write_text(json.dumps(TINY[name], indent=1), encoding="utf-8")
    save_file(Weights(TINY[name]).tensors, str(place / "model.safetensors"), metadata={"format": "pt"})
    return place
