"""Which servers are compared: a covering set of cells instead of a full grid.

A cell is one pair of servers with the same arguments, one of each tree. Six axes span 256 combinations; two faults
meet more often than three, so the cells cover every *pair* of values that a server accepts, and no more.

Blind to faults that need three values of the axes at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Arguments = Mapping[str, object]
Row = dict[str, str]

AXES: dict[str, tuple[str, ...]] = {
    "attention": ("triton", "flashinfer", "fa3", "flashmla"),
    "weights": ("bf16", "fp8"),
    "mtp": ("off", "on"),
    "graph": ("on", "off"),
    "overlap": ("on", "off"),
    "deterministic": ("off", "on"),
}
# Upstream refuses the others for DeepSeek.
DETERMINISTIC = frozenset({"triton", "fa3"})
MTP: Arguments = {
    "speculative-algorithm": "EAGLE",
    "speculative-num-steps": 2,
    "speculative-eagle-topk": 1,
    "speculative-num-draft-tokens": 3,
}
# Small pools and few graphs: a tiny model needs no more, and several servers share one card.
BASE: Arguments = {
    "random-seed": 1,
    "sampling-backend": "pytorch",
    "mem-fraction-static": 0.3,
    "max-total-tokens": 65536,
    "max-running-requests": 8,
    "cuda-graph-max-bs-decode": 4,
    "disable-prefill-cuda-graph": True,
    "chunked-prefill-size": 512,
    "watchdog-timeout": 300,
    "skip-server-warmup": True,
    "reasoning-parser": "deepseek-r1",
    "tool-call-parser": "deepseekv3",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair of servers. ``arguments`` are options without dashes; True is a flag."""

    name: str
    checkpoint: str
    arguments: Arguments = field(default_factory=dict)
    cards: int = 1
    extra: tuple[str, ...] = ()  # further groups of requests, by name
    needs: str = ""  # a file of the environment without which the cell cannot run

    def options(self) -> list[str]:
        """The command line after the port."""
        words: list[str] = []
        for key, value in {**BASE, **self.arguments}.items():
            if value is False:
                continue
            words.append(f"--{key}")
            if isinstance(value, list | tuple):
                words.extend(str(item) for item in value)
            elif value is not True:
                words.append(str(value))
        return words


def accepted(row: Mapping[str, str]) -> bool:
    """Whether upstream starts with this combination; half a row is judged by what it has."""
    if row.get("deterministic") == "on" and row.get("attention", "triton") not in DETERMINISTIC:
        return False
    return not (row.get("deterministic") == "on" and row.get("mtp") == "on")


def pairs(row: Mapping[str, str]) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    """The pairs of values that a row covers."""
    return set(itertools.combinations(sorted(row.items()), 2))


def rows() -> Iterator[Row]:
    """Every accepted combination, in the order of the axes."""
    for values in itertools.product(*AXES.values()):
        row = dict(zip(AXES, values, strict=True))
        if accepted(row):
            yield row


def covering() -> list[Row]:
    """A covering set: greedily the row with most new pairs, the earliest of equals. The first is the plainest."""
    known = list(rows())
    missing = set().union(*(pairs(row) for row in known))
    chosen: list[Row] = []
    while missing:
        best = known[0] if not chosen else max(known, key=lambda row: len(pairs(row) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen


def cell(row: Row) -> Cell:
    """The cell of a row."""
    arguments: dict[str, object] = {"attention-backend": row["attention"]}
    if row["attention"] in ("flashinfer", "flashmla"):
        # The ragged prefill kernel took longer than a minute to build where this was tried.
        arguments["flashinfer-mla-disable-ragged"] = True
    if row["mtp"] == "on":
        arguments.update(MTP)
    if row["graph"] == "off":
        arguments["disable-decode-cuda-graph"] = True
    if row["overlap"] == "off":
        arguments["disable-overlap-schedule"] = True
    if row["deterministic"] == "on":
        arguments["enable-deterministic-inference"] = True
    checkpoint = {"bf16off": "bf16", "bf16on": "mtp", "fp8off": "fp8", "fp8on": "mtpfp8"}[row["weights"] + row["mtp"]]
    marks = [f"{key}-{row[key]}" for key in ("graph", "overlap") if row[key] == "off"]
    marks += [key for key in ("mtp", "deterministic") if row[key] == "on"]
    name = "-".join([row["weights"], row["attention"], *marks])
    return Cell(name, checkpoint, arguments, needs="fa3" if row["attention"] == "fa3" else "")


TRITON: Arguments = {"attention-backend": "triton"}
FEATURES: tuple[Cell, ...] = (
    Cell("v2-triton", "v2", TRITON),
    Cell("v32-sparse", "v32", {}),
    Cell("weights-and-memory", "bf16", {**TRITON, "enable-memory-saver": True}, extra=("weights", "memory")),
    Cell(
        "lora",
        "bf16",
        {
            **TRITON,
            "enable-lora": True,
            "max-lora-rank": 8,
            "lora-target-modules": ("q_b_proj", "o_proj"),
            "max-loras-per-batch": 2,
        },
        extra=("lora",),
    ),
    Cell(
        "hicache",
        "bf16",
        {**TRITON, "enable-hierarchical-cache": True, "hicache-ratio": 4, "max-total-tokens": 4096},
        extra=("evict",),
    ),
    Cell("fp8-triton-all", "fp8", {**TRITON, "moe-runner-backend": "triton", "fp8-gemm-backend": "triton"}),
    Cell("metrics", "bf16", {**TRITON, "enable-metrics": True, "enable-cache-report": True}, extra=("metrics",)),
)
# The fused all-reduce may use NVLink multicast, which hosts that share their switch forbid.
TWO: Arguments = {**TRITON, "enforce-disable-flashinfer-allreduce-fusion": True}
TWO_CARDS: tuple[Cell, ...] = (
    Cell("tp2", "bf16", {**TWO, "tp-size": 2}, cards=2),
    Cell("ep2", "fp8", {**TWO, "tp-size": 2, "ep-size": 2}, cards=2),
    # Its batches are the clock's doing, and what a batch computes depends on who is in it. In deterministic mode both trees
    # answer two requests there and wait for ever at the third.
    Cell("dp-attention2", "bf16", {**TWO, "tp-size": 2, "dp-size": 2, "enable-dp-attention": True}, cards=2),
    Cell("pp2", "bf16", {**TWO, "pp-size": 2}, cards=2),
    Cell("tp2-mtp-fp8", "mtpfp8", {**TWO, **MTP, "tp-size": 2}, cards=2),
)
# Cells that no Hopper card can run. The last has the choices of the launch kit's file for GB200.
SM100 = "an SM100 card (B200, GB200)"
PACKED = f"{SM100}, and a tiny checkpoint in NVFP4, which is not made yet"
TRTLLM: Arguments = {"attention-backend": "trtllm_mla", "moe-runner-backend": "flashinfer_trtllm"}
NVFP4: Arguments = {**TRTLLM, "quantization": "modelopt_fp4", "kv-cache-dtype": "fp8_e4m3"}
SM100_CELLS: tuple[Cell, ...] = (
    Cell("sm100-bf16-trtllm-mla", "bf16", {"attention-backend": "trtllm_mla"}, needs=SM100),
    Cell("sm100-bf16-cutlass-mla", "bf16", {"attention-backend": "cutlass_mla"}, needs=SM100),
    Cell("sm100-mtp-trtllm-mla", "mtp", {"attention-backend": "trtllm_mla", **MTP}, needs=SM100),
    Cell("sm100-fp8-trtllm", "fp8", {**TRTLLM, "kv-cache-dtype": "fp8_e4m3"}, needs=SM100),
    Cell("sm100-v32-sparse", "v32", {}, needs=SM100),
    Cell("sm100-nvfp4", "nvfp4", NVFP4, needs=PACKED),
    Cell(
        "sm100-nvfp4-gb200",
        "nvfp4",
        {**NVFP4, "tp-size": 4, "ep-size": 4, "dp-size": 4, "enable-dp-attention": True},
        cards=4,
        needs=PACKED.replace(SM100, "an SM100 card (GB200) in each of four places of one host", 1),
    ),
)
# What no Hopper card at hand can run, and what it would take.
NOT_RUN: tuple[tuple[str, str], ...] = (
    *((cell.name, cell.needs) for cell in SM100_CELLS),
    ("MXFP4 MoE", "an SM100 card"),
    ("fa4 attention", "an SM100 card for MLA with absorbed weights"),
    ("DeepEP all-to-all", "NVSHMEM with IBGDA or NVLink multicast, and the deep_ep package"),
    ("two nodes (--nnodes 2)", "two hosts with a common network"),
    ("published weights (R1, V3, V3.2)", "eight H200 or sixteen H100 cards and 700 GB of weights"),
)


def unique(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells; raises ValueError when two have one name (a result would overwrite another)."""
    names = [one.name for one in cells]
    if len(set(names)) != len(names):
        raise ValueError(f"cells of one name: {sorted(name for name in names if names.count(name) > 1)}")
    return tuple(cells)


CELLS: tuple[Cell, ...] = unique([*(cell(row) for row in covering()), *FEATURES, *TWO_CARDS])
