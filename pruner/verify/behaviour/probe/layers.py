"""Tiny models of the family through the tree's own loader, runner, attention backend and kernels, layer by layer.

Prompts are run in one batch, then tokens one by one from the cache that the prompts filled. What every module of the
model gives is noted as a digest, so two trees are equal bit for bit or the first module that differs is named.

What these forwards do not reach is called alone (:mod:`pruner.verify.behaviour.probe.parts`).

Blind to kernels that no reference stands for and that are not Triton's, to half of what depends on size, to more than
one rank, and to Triton's kernels in bfloat16, which its interpreter does not compute with.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from . import forks, host, natives, parts, processes, tiny
from .describe import Describer

LIMIT = 300.0  # seconds for one model; Triton's interpreter takes most of it
PROMPTS, LENGTH, DECODED = 2, 7, 2
# Decoding multiplies with what was float8 and became bfloat16, which the interpreter does not compute with.
PREFILL_ONLY = frozenset({"v3 fp8"})
BENCHMARKS = ("sglang.benchmark.one_batch", "sglang.bench_one_batch")  # one batch through the runner, by release
WORDS = (
    "--skip-tokenizer-init --random-seed 1 --attention-backend triton --moe-runner-backend triton "
    "--fp8-gemm-backend triton --sampling-backend pytorch --disable-cuda-graph --disable-radix-cache --page-size 1 --context-length 64 "
    "--max-total-tokens 256 --max-running-requests 4 --mem-fraction-static 0.5"
)


class Recorder:
    """Digests of what modules give, in the order in which they give it."""

    def __init__(self) -> None:
        self.step = ""
        self.rows: list[list[str]] = []  # step, module, digests
        self.routed: Counter[int] = Counter()  # tokens by expert

    def watch(self, model: Any) -> None:
        """Every module of the model."""
        for name, module in model.named_modules():
            module.register_forward_hook(self._hook(name))

    def _hook(self, name: str) -> Callable[..., None]:
        def note(module: Any, args: Any, given: Any) -> None:
            found = list(tensors(given))
            experts = getattr(given, "topk_ids", None)
            if isinstance(experts, torch.Tensor):
                self.routed.update(experts.flatten().tolist())
            if found:
                self.rows.append([self.step, name or "model", " ".join(map(digest, found))])

        return note


def tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors of an output: alone, in a tuple, or in the fields of a record."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 3:
        parts: list[Any] = []
        if isinstance(value, (tuple, list)):
            parts = list(value)
        elif dataclasses.is_dataclass(value):
            parts = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
        for part in parts:
            yield from tensors(part, depth + 1)


def digest(value: torch.Tensor) -> str:
    """Type, shape and bytes of a tensor."""
    data = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
    kind = str(value.dtype).removeprefix("torch.")
    return f"{kind}{list(value.shape)}:{hashlib.sha256(data).hexdigest()[:16]}".replace(" ", "")


class Previous:
    """What a draft is told of the target: hidden states; nothing else is asked for."""

    def __init__(self, hidden_states: torch.Tensor) -> None:
        self.hidden_states = hidden_states

    def __getattr__(self, name: str) -> None:
        return None


def told(model: Any) -> None:
    """Hand a draft the embedding, the head and hidden states that its target would."""
    generator, hidden = torch.Generator().manual_seed(3), tiny.TINY["nextn"]["hidden_size"]

    def drawn(*shape: int) -> torch.Tensor:
        return torch.empty(*shape).normal_(0, 0.5, generator=generator).to(torch.float16)

    model.set_embed_and_head(*(torch.nn.Parameter(drawn(tiny.VOCABULARY, hidden), False) for _ in range(2)))
    plain = model.forward

    def forward(input_ids: Any, positions: Any, forward_batch: Any, *args: Any, **kwargs: Any) -> Any:
        forward_batch.spec_info = Previous(drawn(len(input_ids), hidden))
        try:
            return plain(input_ids, positions, forward_batch, *args, **kwargs)
        finally:
            forward_batch.spec_info = None

    model.forward = forward


def benchmark() -> Any:
    """The module of the tree that runs one batch. Raises ModuleNotFoundError."""
    for name in BENCHMARKS[:-1]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return importlib.import_module(BENCHMARKS[-1])


def resolved(name: str, models: Path, dtype: str) -> tuple[Any, Any]:
    """The arguments of a server of one tiny model, and its ports."""
    from sglang.srt import server_args as module  # type: ignore[import-not-found]

    place = tiny.write(models, name)
    host.enter()
    args = module.prepare_server_args(["--model-path", str(place), "--dtype", dtype, *WORDS.split()])
    if hasattr(module, "set_global_server_args_for_scheduler"):
        module.set_global_server_args_for_scheduler(args)
    return args, module.PortArgs.init_new(args)


def process(name: str, models: Path) -> dict[str, Any]:
    """One process of a server, made and not started."""
    made = processes.PROCESSES[name](*resolved("v3", models, "float16"))
    return {"steps": {}, "finite": True, "layers": [[name, "made", type(made).__name__]], "routed": {}, "natives": {}}


def load(name: str, models: Path, dtype: str = "float16") -> tuple[Any, Any]:
    """The benchmark's module, and a runner that holds the model."""
    bench = benchmark()
    args, ports = resolved(name, models, dtype)
    bench.get_tokenizer = lambda *a, **k: None
    more = len(inspect.signature(bench.load_model).parameters) - 2  # the ranks, all 0
    held = bench.load_model(args, ports, *[0] * more)[0]
    return bench, getattr(held, "torch_runner", held)


def alone(name: str, models: Path) -> dict[str, Any]:
    """The parts of one name, each called alone."""
    recorder, model = Recorder(), name.partition(" ")[0]
    runner = load("v3" if model == "v32" else model, models, "bfloat16")[1]

    def note(row: str, given: Any) -> None:
        recorder.rows.append([name, row, given if isinstance(given, str) else " ".join(map(digest, tensors(given)))])

    {
        "v3 formats": lambda: parts.formats(note),
        "v3 bf16": lambda: parts.layers(runner.model, note),
        "v2 bf16": lambda: parts.layers(runner.model, note),
        "v32 indexer": lambda: parts.indexer(note),
    }[name]()
    return {
        "steps": {},
        "finite": True,
        "layers": recorder.rows,
        "routed": {},
        "natives": dict(sorted(natives.called.items())),
    }


PARTS = ("v3 formats", "v3 bf16", "v2 bf16", "v32 indexer")


def forward(name: str, models: Path) -> dict[str, Any]:
    """One model: what its modules gave, the tokens, the native operations that were called."""
    bench, runner = load(name, models)
    recorder = Recorder()
    recorder.watch(runner.model)
    if name == "nextn":
        told(runner.model)
    np.random.seed(7)
    recorder.step = "prefill"
    tokens, logits, batch = bench.extend(bench.prepare_synthetic_inputs_for_latency_test(PROMPTS, LENGTH), runner)
    answer = {"prefill": {"tokens": tokens.tolist(), "logits": digest(logits)}}
    for number in range(1, 1 if name in PREFILL_ONLY else DECODED + 1):
        recorder.step = f"decode {number}"
        tokens, logits = bench.decode(tokens, batch, runner)
        answer[recorder.step] = {"tokens": tokens.tolist(), "logits": digest(logits)}
    return {
        "steps": answer,
        "finite": bool(torch.isfinite(logits.float()).all()),
        "layers": recorder.rows,
        "routed": {str(expert): count for expert, count in sorted(recorder.routed.items())},
        "natives": dict(sorted(natives.called.items())),
    }


def run_all(models: Path, only: list[str], describer: Describer) -> dict[str, Any]:
    """Every tiny model in its own child, or why it did not run."""
    benchmark()

    def step(name: str) -> Callable[[], Any]:
        def answer() -> dict[str, Any]:
            try:
                run = process if name in processes.PROCESSES else alone if name in PARTS else forward
                return run(name, models)
            except (Exception, SystemExit) as error:
                return {"failure": describer.failure(error)}

        return answer

    names = (*tiny.TINY, *PARTS, *processes.PROCESSES)
    return forks.each(((name, step(name)) for name in names if not only or name in only), LIMIT)
