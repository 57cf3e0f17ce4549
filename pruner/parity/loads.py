"""What speed is measured on: a model, the options of its processes, and the sizes of the requests.

On the tiny model the host's side of each step is what is timed, and processes of one tree lie a quarter apart.
``v2-lite`` has the dimensions of the published DeepSeek-V2-Lite, and random weights that SGLang itself makes
(``--load-format dummy``: the same in both trees): the card's work is most of each step.

Blind to what only trained weights do: unbalanced experts, accepted drafts, text that ends by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pruner.parity import tokenizer
from pruner.parity.cells import TRITON, Cell

# Of DeepSeek-V2-Lite's published config.json: what SGLang reads of it.
V2_LITE: Mapping[str, object] = {
    "architectures": ["DeepseekV2ForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 0,  # the tokenizer that is made beside it has its marks first
    "eos_token_id": 1,
    "first_k_dense_replace": 1,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "initializer_range": 0.02,
    "intermediate_size": 10944,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "model_type": "deepseek_v2",
    "moe_intermediate_size": 1408,
    "moe_layer_freq": 1,
    "n_group": 1,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "norm_topk_prob": False,
    "num_attention_heads": 16,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 27,
    "num_key_value_heads": 16,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "rms_norm_eps": 1e-6,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 0.707,
        "mscale_all_dim": 0.707,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
    "rope_theta": 10000,
    "routed_scaling_factor": 1.0,
    "scoring_func": "softmax",
    "tie_word_embeddings": False,
    "topk_group": 1,
    "topk_method": "greedy",
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "v_head_dim": 128,
    "vocab_size": 102400,
}


@dataclass(frozen=True, slots=True)
class Load:
    """One thing to measure. ``card``: MiB of a card that one process takes, 0 where they are no matter."""

    name: str
    cell: Cell  # its arguments are those of the server
    batches: tuple[int, ...]  # bench_one_batch: a sweep has each of them
    batch: tuple[int, int]  # tokens in and out of each of its requests
    prompts: int  # bench_serving
    at_once: int
    prompt: tuple[int, int]  # tokens in and out
    card: int = 0
    model: Mapping[str, object] | None = None  # config.json of a model without weights
    one_batch: Mapping[str, object] | None = None  # further options of bench_one_batch

    def serving(self) -> list[str]:
        """Options of bench_serving."""
        sizes = {
            "num-prompts": self.prompts,
            "max-concurrency": self.at_once,
            "random-input-len": self.prompt[0],
            "random-output-len": self.prompt[1],
            "random-range-ratio": 1,
            "seed": 1,
        }
        # As ids: the text of random ids is other ids again, here five times as many.
        flags = ("--flush-cache", "--disable-tqdm", "--tokenize-prompt")
        return [*flags, *(word for key in sizes for word in (f"--{key}", str(sizes[key])))]

    def pairs_at_once(self, wanted: int, card: int) -> int:
        """How many processes of each tree a card of so many MiB holds; at least one."""
        return max(1, min(wanted, card // (2 * self.card))) if self.card and card else wanted

    def write(self, folder: Path) -> None:
        """The folder of a model without weights: configuration and tokenizer."""
        if self.model is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.model, indent=1))
        greedy = {"bos_token_id": 0, "eos_token_id": 1, "do_sample": False}
        (folder / "generation_config.json").write_text(json.dumps(greedy))
        tokenizer.write(folder, int(str(self.model["vocab_size"])))


TINY = Load(
    "tiny",
    Cell("bench", "bf16", {**TRITON, "cuda-graph-max-bs-decode": 8}),
    (8,),
    (256, 256),
    64,
    8,
    (256, 64),
    # Its prompts use ids up to 10,000.
    one_batch={"load-format": "dummy", "json-model-override-args": '{"vocab_size": 16384}'},
)
# The attention back end is the one that SGLang chooses for the card. Several processes share it, so the pool is given
# and the rest of the card is nobody's: with the usual fraction the second would find too little left.
PUBLISHED = Load(
    "v2-lite",
    Cell(
        "bench",
        "v2-lite",
        {
            "load-format": "dummy",
            "context-length": 8192,
            "mem-fraction-static": 0.97,
            "max-total-tokens": 24576,
            "max-running-requests": 32,
            "cuda-graph-max-bs-decode": 32,
            "chunked-prefill-size": 8192,
        },
    ),
    (1, 32),
    (512, 128),
    64,
    32,
    (512, 128),
    card=35_000,
    model=V2_LITE,
)
LOADS: Mapping[str, Load] = {load.name: load for load in (TINY, PUBLISHED)}
