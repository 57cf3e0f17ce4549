"""Parts of models that no tiny model's forward reaches on a host: number formats, layers in bfloat16, V3.2's indexer.

Each part is called alone, with arguments drawn from one seed. What upstream itself cannot run here is noted with its error,
and so is compared as well: the output must fail alike.

Blind to kernels that only plain torch stands for: packed numbers are upstream's own where upstream packs in torch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from . import natives

Note = Callable[[str, Any], None]
Step = Callable[[], Any]
ERRORS = (Exception, SystemExit)
QUANTIZATION = "sglang.srt.layers.quantization"
TOKENS = 5
# Layers that compute in plain torch, in native operations that a reference stands for, or in no Triton kernel.
ALONE = ("Linear", "RMSNorm", "LayerNorm", "MLP", "MoEGate", "Embedding")


def drawn(*shape: int, scale: float = 1.0, dtype: torch.dtype = torch.bfloat16, seed: int = 11) -> torch.Tensor:
    """A normal distribution, the same on each call."""
    made = torch.empty(*shape).normal_(0, scale, generator=torch.Generator().manual_seed(seed))
    return made.to(dtype)


def attempt(note: Note, name: str, step: Step) -> Any:
    """Note what a step gives, or its error."""
    try:
        value = step()
    except ERRORS as error:
        note(name, f"{type(error).__name__}: {str(error)[:200]}")
        return None
    note(name, value)
    return value


def formats(note: Note) -> None:
    """Block FP8, its power-of-two scales, MXFP8, MXFP4 and NVFP4: packed, unpacked, laid out for kernels."""
    weight, square = drawn(256, 384, scale=0.2), [128, 128]
    for name, step in _fp8(weight, square):
        attempt(note, name, step)
    for name, step in _fp4(weight):
        attempt(note, name, step)


def part(module: str, name: str) -> Any:
    """A function of the tree. Raises ModuleNotFoundError and AttributeError."""
    found: Any = importlib.import_module(f"{QUANTIZATION}.{module}")
    for step in name.split("."):
        found = getattr(found, step)
    return found


def _fp8(weight: torch.Tensor, square: list[int]) -> Iterator[tuple[str, Step]]:
    def call(name: str, *args: Any, module: str = "fp8_utils", **kwargs: Any) -> Any:
        return part(module, name)(*args, **kwargs)

    yield "float8 by tensor", lambda: call("input_to_float8", weight)
    blocks = call("per_block_cast_to_fp8", weight)
    yield "block FP8", lambda: blocks
    yield "block FP8 unpacked", lambda: call("block_quant_dequant", *blocks, square, torch.bfloat16)
    yield "block FP8 to tensor", lambda: call("block_quant_to_tensor_quant", *blocks, square)
    yield "block FP8 of a checkpoint", lambda: call("bf16_to_block_fp8_128", weight, module="mxfp8_block_convert")
    yield "power-of-two scales", lambda: call("quant_weight_ue8m0", weight, square)
    yield "power-of-two scales again", lambda: call("requant_weight_ue8m0", *blocks, square)
    packed = lambda: call("transform_scale_ue8m0", blocks[1], 256, use_torch_impl=True)  # noqa: E731
    yield "packed scales", packed
    wide = drawn(256, 512, scale=0.2)
    scales = call("per_block_cast_to_fp8", wide)[1]
    yield (
        "packed scales unpacked",
        lambda: call("inverse_transform_scale_ue8m0", call("transform_scale_ue8m0", scales, 256, True), 256),
    )
    yield "channel FP8 to tensor", lambda: call("channel_quant_to_tensor_quant", blocks[0], drawn(256, 1).abs())
    mx = torch.randint(110, 130, (256, 12), dtype=torch.uint8, generator=torch.Generator().manual_seed(5))
    yield "MXFP8 scales packed", lambda: call("_pack_mxfp8_scales", mx)
    yield (
        "MXFP8 to block FP8",
        lambda: call("convert_mxfp8_weight_to_block_fp8", blocks[0], mx, module="mxfp8_block_convert"),
    )


def _fp4(weight: torch.Tensor) -> Iterator[tuple[str, Step]]:
    def mxfp4() -> Any:
        held, scale = part("fp8_utils", "_MXFP4QuantizedData.quantize")(weight, 32)
        return held.quantized_data, scale

    def blocked() -> Any:
        blocks = part("fp8_utils", "per_block_cast_to_fp8")(weight)
        data, scale = part("fp8_utils", "quantize_block_fp8_weight_to_mxfp4")(*blocks, [128, 128])
        return data, scale.view(torch.uint8)

    def unpacked() -> Any:
        given = torch.randint(0, 256, (256, 192), dtype=torch.uint8, generator=torch.Generator().manual_seed(6))
        scale = torch.randint(120, 130, (256, 12), dtype=torch.uint8, generator=torch.Generator().manual_seed(7))
        util = part("mxfp4_tensor", "MXFP4QuantizeUtil")
        return util.dequantize(given, torch.bfloat16, scale, [32])

    cache = drawn(4, 8, 64)
    yield "MXFP4", mxfp4
    yield "MXFP4 of block FP8", blocked
    yield "MXFP4 unpacked", unpacked
    yield "FP4 cache", lambda: part("kvfp4_tensor", "FP4MXBlock16KVQuantizeUtil.batched_quantize")(cache)

    def back() -> Any:
        util = part("kvfp4_tensor", "FP4MXBlock16KVQuantizeUtil")
        return util.batched_dequantize(*util.batched_quantize(cache))

    def nvfp4(unpack: bool) -> Any:
        util = part("kvfp4_tensor", "NVFP4KVQuantizeUtil")
        given = util.quantize(cache, torch.tensor([0.01]))
        return util.dequantize(given[0], given[1].reshape(len(cache), -1), given[2]) if unpack else given

    yield "FP4 cache unpacked", back
    yield "NVFP4 cache", lambda: nvfp4(False)
    yield "NVFP4 cache unpacked", lambda: nvfp4(True)
    yield (
        "NVFP4 weight",
        lambda: part("nvfp4_online", "ModelOptNvFp4OnlineFusedMoEMethod._quantize_weight_nvfp4")(weight),
    )
    scales = drawn(256, 24, scale=3.0).abs().to(torch.float8_e4m3fn)
    yield "NVFP4 scales swizzled", lambda: part("utils", "swizzle_blockscale")(scales)
    yield "NVFP4 scales for Marlin", lambda: part("marlin_utils_fp4", "nvfp4_marlin_process_scales")(scales.half())
    yield (
        "MXFP4 scales for Marlin",
        lambda: part("marlin_utils_fp4", "mxfp4_marlin_process_scales")(drawn(64, 16).abs()).view(torch.uint8),
    )


def layers(model: Any, note: Note) -> None:
    """Each layer of a model that was loaded in bfloat16, alone."""
    for name, module in model.named_modules():
        kind = type(module).__name__
        if kind.endswith(ALONE) and "Fused" not in kind:
            attempt(note, f"{name} ({kind})", lambda m=module, k=kind: m(*_given(m, k)))


def _given(module: Any, kind: str) -> tuple[Any, ...]:
    if kind.endswith("Embedding") and "Rotary" not in kind:
        return (torch.arange(TOKENS) * 7,)
    if "Rotary" in kind:
        width = module.rotary_dim
        return torch.arange(TOKENS), drawn(TOKENS, 4, width), drawn(TOKENS, 1, width, seed=12)
    if kind.endswith(("MLP", "MoEGate")):
        inner = module.gate_up_proj if hasattr(module, "gate_up_proj") else module
        return (drawn(TOKENS, getattr(inner, "input_size", None) or module.weight.shape[-1]),)
    if kind.endswith("Linear"):
        return (drawn(TOKENS, module.input_size),)
    return (drawn(TOKENS, module.weight.shape[-1]),)


class Batch:
    """A batch of nothing: every attribute is None."""

    def __getattr__(self, name: str) -> None:
        return None


def indexer(note: Note) -> None:
    """The queries, keys, head gates and chosen tokens of V3.2's sparse attention; the logits are plain torch."""
    name = "sglang.srt.layers.attention.dsa.dsa_indexer"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        module = importlib.import_module("sglang.srt.layers.attention.nsa.nsa_indexer")
    heads, width, rope, rank, hidden = 8, 128, 64, 96, 256
    if hasattr(module, "rotate_activation"):
        module.rotate_activation = _rotated
    torch.set_default_dtype(torch.bfloat16)
    torch.set_grad_enabled(False)
    for interleaved in (True, False):  # the fused projections of a later release, and those of the paper
        made = module.Indexer(
            hidden_size=hidden,
            index_n_heads=heads,
            index_head_dim=width,
            rope_head_dim=rope,
            index_topk=4,
            q_lora_rank=rank,
            max_position_embeddings=256,
            rope_theta=10000,
            layer_id=0,
            scale_fmt="ue8m0",
            rope_scaling=None,
            is_neox_style=not interleaved,
        )
        for number, weight in enumerate(made.parameters()):
            weight.data.copy_(drawn(*weight.shape, scale=0.1, seed=20 + number).to(weight.dtype))
        x, low, positions = drawn(TOKENS, hidden), drawn(TOKENS, rank, seed=13), torch.arange(TOKENS)
        label = "interleaved" if interleaved else "halves"
        found = attempt(
            note,
            f"{label}: queries and keys",
            lambda m=made, q=low, h=x, p=positions: m._get_q_k_bf16(q, h, p, False, Batch()),
        )
        gates = attempt(note, f"{label}: head gates", lambda m=made, h=x: _gates(m, h))
        if found is not None and gates is not None:
            attempt(note, f"{label}: tokens", lambda f=found, g=gates: _chosen(f[0], f[1], g, 4))


def _rotated(x: torch.Tensor) -> torch.Tensor:
    """In the place of the tree's own, which refuses tensors of the host before it calls its kernel."""
    out = torch.empty_like(x)
    natives.call("jit.hadamard.hadamard_transform", (x, out, x.shape[-1] ** -0.5), {})
    return out


def _gates(made: Any, x: torch.Tensor) -> torch.Tensor:
    if hasattr(made, "wk_weights_proj"):
        return made._scale_head_gates(made._fused_k_weights(x)[1], torch.ones(len(x), made.n_heads, 1))
    return made._get_logits_head_gate(x, torch.ones(len(x), made.n_heads, 1))


def _chosen(query: torch.Tensor, key: torch.Tensor, gates: torch.Tensor, top: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of each earlier token, over heads, and the best of them: what DeepGEMM and the selection kernel do."""
    scores = torch.einsum("qhd,kd->qhk", query.float(), key.float()).relu()
    logits = (scores * gates.float().reshape(len(query), -1, 1)).sum(1)
    logits = logits.masked_fill(torch.ones_like(logits).triu(1).bool(), float("-inf"))
    return logits, torch.sort(logits, dim=-1, descending=True, stable=True)[1][:, :top]
