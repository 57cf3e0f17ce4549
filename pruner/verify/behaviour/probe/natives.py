"""Native operations in plain torch: what a tree calls in kernel packages, or compiles when it is first called.

The reference of an operation is found by its name: ``package.function`` for a stand-in's attribute, ``jit.SOURCE.FUNCTION``
for a compiled one. One without a reference raises; nothing is made up. Both trees get the same references.

Blind to whether a reference is what the kernel does: it need only tell apart two trees that hand it other arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch.nn import functional

from . import standins

Operation = Callable[..., Any]
REFERENCES: dict[str, Operation] = {}
called: Counter[str] = Counter()


class NoReference(NotImplementedError):
    """The tree calls a native operation that is not in this module."""


def reference(*names: str) -> Callable[[Operation], Operation]:
    """Register under these names."""

    def register(function: Operation) -> Operation:
        REFERENCES.update(dict.fromkeys(names, function))
        return function

    return register


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the reference. Raises NoReference."""
    function = REFERENCES.get(name)
    if function is None:
        raise NoReference(f"{name}({', '.join(map(_shown, (*args, *kwargs.values())))})")
    called[name] += 1
    return function(*args, **kwargs)


def _shown(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)[:40]


class Compiled:
    """What a tree gets from its compiler: every function of the source is there."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel

    def __getattr__(self, name: str) -> Operation:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: call(f"jit.{self.kernel}.{name}", args, kwargs)


def install() -> None:
    """A stand-in that is called with a tensor calls its reference."""
    meta: Any = standins._Meta
    plain = meta.__call__

    def known(cls: Any, *args: Any, **kwargs: Any) -> Any:
        name = f"{cls.__module__}.{cls.__qualname__}"
        if name in REFERENCES or any(isinstance(value, torch.Tensor) for value in (*args, *kwargs.values())):
            return call(name, args, kwargs)
        return plain(cls, *args, **kwargs)

    meta.__call__ = known


@reference("sgl_kernel.utils.is_arch_support_pdl", "sgl_kernel.is_arch_support_pdl")
def is_arch_support_pdl(*args: Any) -> bool:
    """Hopper and later do."""
    return True


@reference("sgl_kernel.rmsnorm", "flashinfer.norm.rmsnorm")
def rmsnorm(input: Any, weight: Any, eps: float = 1e-6, out: Any = None, enable_pdl: Any = None) -> Any:
    """Root mean square normalisation, in single precision."""
    x = input.float()
    y = (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight.float()).to(input.dtype)
    return y if out is None else out.copy_(y)


@reference("sgl_kernel.fused_add_rmsnorm", "flashinfer.norm.fused_add_rmsnorm")
def fused_add_rmsnorm(input: Any, residual: Any, weight: Any, eps: float = 1e-6, enable_pdl: Any = None) -> None:
    """In place: the sum into ``residual``, its normalisation into ``input``."""
    residual.add_(input)
    input.copy_(rmsnorm(residual, weight, eps))


@reference("flashinfer.norm.layernorm")
def layernorm(input: Any, gemma: Any, beta: Any, eps: float = 1e-6) -> Any:
    """Layer normalisation, in single precision."""
    y = functional.layer_norm(input.float(), input.shape[-1:], gemma.float(), beta.float(), eps)
    return y.to(input.dtype)


@reference("jit.hadamard.hadamard_transform")
def hadamard_transform(input: Any, out: Any, scale: float) -> None:
    """Walsh-Hadamard transform of the last dimension, a power of two."""
    x = input.float()
    width = 1
    while width < x.shape[-1]:
        a, b = x.unflatten(-1, (-1, 2, width)).unbind(-2)
        x = torch.stack((a + b, a - b), -2).flatten(-3)
        width *= 2
    out.copy_(x * scale)


GATES: dict[str, Operation] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


@reference("jit.activation.run_activation")
def run_activation(input: Any, out: Any, name: str) -> None:
    """The first half of each row through the gate, times the second."""
    width = out.shape[-1]
    out.copy_((GATES[name](input[..., :width].float()) * input[..., width:].float()).to(out.dtype))


@reference("sgl_kernel.silu_and_mul", "sgl_kernel.elementwise.silu_and_mul")
def silu_and_mul(input: Any, out: Any = None) -> Any:
    """As above, for one gate."""
    if out is None:
        out = input.new_empty((*input.shape[:-1], input.shape[-1] // 2))
    run_activation(input, out, "silu")
    return out


def rotate(part: Any, cache: Any, positions: Any, halves: bool) -> None:
    """Rotary embedding of the first columns of each head, in place; ``cache`` holds cosines, then sines."""
    width = cache.shape[-1]
    cosine, sine = (half[:, None] for half in cache[positions].float().chunk(2, -1))
    x = part[..., :width].float()
    a, b = x.chunk(2, -1) if halves else (x[..., ::2], x[..., 1::2])
    turned = (a * cosine - b * sine, b * cosine + a * sine)
    part[..., :width] = (torch.cat(turned, -1) if halves else torch.stack(turned, -1).flatten(-2)).to(part.dtype)


@reference("jit.rotary_embedding.rotary_embedding")
def rotary_embedding(positions: Any, query: Any, key: Any, head: int, cache: Any, halves: bool) -> None:
    """Query and key, heads one behind the other."""
    for part in (query, key):
        if part is not None:
            rotate(part.view(part.shape[0], -1, head), cache, positions, halves)


@reference("jit.fused_rope.run_rope")
def run_rope(query: Any, key: Any, cache: Any, positions: Any) -> None:
    """Query and key by head; DeepSeek turns neighbours."""
    for part in (query, key):
        rotate(part, cache, positions, False)


@reference("jit.clamp_position.clamp_position")
def clamp_position(out: Any, lengths: Any) -> None:
    """The last position of each sequence."""
    out.copy_((lengths - 1).clamp(min=0))


@reference("flashinfer.fused_moe.fused_topk_deepseek")
def fused_topk_deepseek(
    logits: Any, bias: Any, groups: int, chosen: int, top: int, factor: float, weights: Any, experts: Any,
    renormalize: bool = True,
) -> None:  # fmt: skip
    """Experts of the best groups; the bias chooses, the weights are without it."""
    scores = logits.float().sigmoid()
    biased = scores + bias.float()
    tokens, count = scores.shape
    if groups > 1:
        best = biased.view(tokens, groups, -1).topk(min(2, count // groups), dim=-1)[0].sum(-1)
        index = torch.sort(best, dim=-1, descending=True, stable=True)[1][:, :chosen]
        mask = torch.zeros_like(best, dtype=torch.bool).scatter_(1, index, True)
        biased = biased.masked_fill(~mask.repeat_interleave(count // groups, dim=1), float("-inf"))
    index = torch.sort(biased, dim=-1, descending=True, stable=True)[1][:, :top]
    found = scores.gather(1, index)
    if renormalize:
        found = found / (found.sum(-1, keepdim=True) + 1e-20)
    weights.copy_(found * factor)
    experts.copy_(index)


@reference("sgl_kernel.moe_align_block_size")
def moe_align_block_size(
    experts: Any, count: int, block: int, order: Any, blocks: Any, total: Any, sums: Any, pad: bool = False, *rest: Any
) -> None:
    """Tokens sorted by expert, each expert's padded to whole blocks; slot 0 is "no expert of this rank"."""
    flat = experts.flatten().tolist()
    order.fill_(len(flat))
    at = 0
    for slot in range(count):
        mine = [index for index, expert in enumerate(flat) if expert + 1 == slot]
        if mine:
            order[at : at + len(mine)] = torch.tensor(mine, dtype=order.dtype)
            size = -(-len(mine) // block)
            blocks[at // block : at // block + size] = slot - 1
            at += size * block
    total.fill_(at)


@reference("jit.fused_eh_norm.fused_eh_norm")
def fused_eh_norm(embeds: Any, previous: Any, embed_weight: Any, previous_weight: Any, out: Any, eps: float) -> None:
    """A draft's two inputs, each normalised, side by side."""
    out.copy_(torch.cat((rmsnorm(embeds, embed_weight, eps), rmsnorm(previous, previous_weight, eps)), -1))


@reference("jit.per_token_group_quant.per_token_group_quant", "sgl_kernel.sgl_per_token_quant_fp8")
def per_token_group_quant(input: Any, out: Any, scales: Any) -> None:
    """Each group of columns divided by its scale; scales are single precision. A wider input is gated first."""
    if scales.dtype != torch.float32:
        raise NoReference(f"per_token_group_quant with scales of {scales.dtype}")
    if input.shape[-1] == 2 * out.shape[-1]:
        input = silu_and_mul(input)
    top = torch.finfo(out.dtype).max
    groups = input.float().reshape(input.shape[0], scales.shape[-1], -1)
    scale = groups.abs().amax(-1).clamp(min=1e-10) / top
    scales.copy_(scale)
    out.copy_((groups / scale[..., None]).clamp(-top, top).reshape(input.shape).to(out.dtype))


@reference("deep_gemm.utils.align", "deep_gemm.align")
def align(size: int, unit: int) -> int:
    """The next multiple."""
    return -(-size // unit) * unit


@reference("deep_gemm.utils.get_tma_aligned_size", "deep_gemm.get_tma_aligned_size")
def get_tma_aligned_size(size: int, element: int) -> int:
    """The next number of elements of which all are 16 bytes."""
    return align(size, 16 // element)


@reference("deep_gemm.utils.layout.get_mn_major_tma_aligned_packed_ue8m0_tensor")
def get_mn_major_tma_aligned_packed_ue8m0_tensor(scales: Any) -> Any:
    """The exponents of powers of two, a byte each, four columns in an integer."""
    exponents = (scales.view(torch.int32) >> 23).to(torch.uint8)
    return functional.pad(exponents, (0, -scales.shape[-1] % 4)).contiguous().view(torch.int32)


@reference("jit.per_tensor_quant_fp8.per_tensor_quant_fp8")
def per_tensor_quant_fp8(input: Any, out: Any, scale: Any) -> None:
    """One scale for all numbers."""
    top = torch.finfo(out.dtype).max
    scale.copy_(input.float().abs().amax() / top)
    out.copy_((input.float() / scale).clamp(-top, top).to(out.dtype))


E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@reference("flashinfer.fp4_quantize", "flashinfer.nvfp4_quantize", "flashinfer.nvfp4_kv_quantize")
def fp4_quantize(input: Any, scale: Any, **layout: Any) -> tuple[Any, Any]:
    """Blocks of 16: four bits for each number, two in a byte, a float8 scale for each block, as bytes; rows stay rows."""
    rows = input.float().reshape(input.shape[0], -1, 16)
    blocks = (rows.abs().amax(-1) / E2M1[-1] * scale).clamp(max=448.0).to(torch.float8_e4m3fn)
    step = (blocks.float() / scale).clamp(min=1e-30)
    wanted = rows / step[..., None]
    bounds = torch.tensor([(a + b) / 2 for a, b in pairwise(E2M1)])
    codes = (torch.bucketize(wanted.abs(), bounds) + 8 * (wanted < 0)).to(torch.uint8).reshape(input.shape[0], -1)
    return codes[:, ::2] | codes[:, 1::2] << 4, blocks.view(torch.uint8)
