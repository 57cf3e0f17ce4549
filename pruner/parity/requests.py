# ruff: noqa: RUF001  (DeepSeek writes its marks with these characters)
"""What is asked of each server: named groups of HTTP requests, the same for both trees.

A group starts with an empty prefix cache unless it says otherwise, and is sent twice: where a server does not answer
itself alike, nothing can be said about the other one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]
VOCAB_LOW, VOCAB_HIGH = 16, 4096
GREEDY: Json = {"temperature": 0, "max_new_tokens": 32, "ignore_eos": True}
TOOL: Json = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Rome"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
SCHEMA: Json = {
    "type": "object",
    "properties": {"answer": {"type": "boolean"}, "grade": {"enum": ["a", "b"]}},
    "required": ["answer", "grade"],
    "additionalProperties": False,
}
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
MODEL = "tiny"  # the client puts the checkpoint's folder in its place


@dataclass(frozen=True, slots=True)
class Request:
    """One call. ``abort_after`` closes a stream after so many events and aborts the request."""

    path: str
    body: Json | None = None
    method: str = "POST"
    stream: bool = False
    abort_after: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Requests sent one after the other. ``once``: a change of the server that cannot be sent twice.

    ``refused``: the output may answer each of them by 400 and the sentence of a guard, whatever upstream answers.
    ``errors``: what upstream answers may be an error.
    """

    name: str
    requests: tuple[Request, ...] = field(default_factory=tuple)
    flush: bool = True
    once: bool = False
    refused: bool = False
    errors: bool = False

    @property
    def generates(self) -> bool:
        """Has requests whose answers hold new tokens? An abort may end what comes next before its first."""
        asked = any(request.body is not None and "return_logprob" in request.body for request in self.requests)
        return asked and not any(request.abort_after for request in self.requests)


def prompt(length: int, salt: int = 7) -> list[int]:
    """Token ids of a prompt; the same for the same length and salt."""
    numbers = random.Random(salt * 1_000_003 + length)
    return [numbers.randrange(VOCAB_LOW, VOCAB_HIGH) for _ in range(length)]


def generate(ids: list[int] | list[list[int]], **changes: Any) -> Request:
    """A ``/generate`` request with log-probabilities."""
    body = {"input_ids": ids, "sampling_params": {**GREEDY, **changes.pop("sampling", {})}, "return_logprob": True}
    return Request("/generate", {**body, **changes}, stream=bool(changes.get("stream")))


def chat(text: str, **changes: Any) -> Request:
    """A ``/v1/chat/completions`` request."""
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 24}
    return Request("/v1/chat/completions", {**body, **changes}, stream=bool(changes.get("stream")))


LENGTHS = (5, 37, 130, 700)
BATCH = [prompt(length) for length in LENGTHS]
BAD: tuple[Request, ...] = (
    Request("/generate", {"sampling_params": {"max_new_tokens": 4}}),
    Request("/generate", {"input_ids": prompt(5), "sampling_params": {"temperature": -1}}),
    Request("/generate", {"input_ids": prompt(5), "sampling_params": {"max_new_tokens": -3}}),
    Request("/generate", {"input_ids": [1] * 70000, "sampling_params": {"max_new_tokens": 4}}),
    Request("/v1/chat/completions", {"model": MODEL}),
    Request("/v1/chat/completions", {"model": MODEL, "messages": []}),
    Request("/v1/completions", {"model": MODEL, "prompt": "a", "max_tokens": "many"}),
    Request("/v1/embeddings", {"model": MODEL, "input": "a"}),
    Request("/encode", {"text": "a"}),
    Request("/nowhere", {}),
    Request("/generate", None, method="GET"),
)
IMAGE = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
MODALITY: tuple[Request, ...] = (
    Request(
        "/v1/chat/completions",
        {"model": MODEL, "messages": [{"role": "user", "content": IMAGE}], "max_tokens": 4, "temperature": 0},
    ),
    Request("/generate", {"input_ids": prompt(5), "image_data": PIXEL, "sampling_params": dict(GREEDY)}),
)
REASONED = "<think>two and two</think>four"
CALLED = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n"
    '```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
ENDLESS = Request(
    "/generate",
    {"input_ids": BATCH[1], "stream": True, "sampling_params": {**GREEDY, "max_new_tokens": 4000}},
    stream=True,
    abort_after=3,
)

COMMON: tuple[Group, ...] = (
    Group("single", tuple(generate(ids) for ids in BATCH)),
    Group("batch", (generate(BATCH),)),
    Group("cached", (generate(BATCH[3]), generate(BATCH[3]), generate(BATCH[3][:640] + prompt(20, 8)))),
    Group("long", (generate(prompt(1500)),)),
    Group("input-logprobs", (generate(BATCH[2], logprob_start_len=0, top_logprobs_num=3),)),
    Group("stream", (generate(BATCH[1], stream=True), chat("count to nine", stream=True))),
    Group(
        "text", (Request("/v1/completions", {"model": MODEL, "prompt": "Once", "max_tokens": 16, "temperature": 0}),)
    ),
    Group("chat", (chat("hello"), chat("why?", logprobs=True, top_logprobs=2), chat("two", n=2))),
    Group("reasoning", (chat("think", separate_reasoning=True), chat("think", separate_reasoning=False))),
    Group(
        "schema",
        (
            chat("grade", response_format={"type": "json_schema", "json_schema": {"name": "g", "schema": SCHEMA}}),
            generate(BATCH[0], sampling={"regex": "(yes|no), (yes|no)", "ignore_eos": False}),
        ),
    ),
    Group("tools", (chat("rain?", tools=[TOOL], tool_choice="required"), chat("rain?", tools=[TOOL]))),
    Group(
        "parsers",
        (
            Request("/separate_reasoning", {"text": REASONED, "reasoning_parser": "deepseek-r1"}),
            Request("/parse_function_call", {"text": CALLED, "tools": [TOOL], "tool_call_parser": "deepseekv3"}),
        ),
    ),
    Group("penalties", (generate(BATCH[1], sampling={"frequency_penalty": 0.5, "presence_penalty": 0.2}),)),
    Group("stop", (generate(BATCH[1], sampling={"stop_token_ids": list(range(16, 4096, 3)), "ignore_eos": False}),)),
    Group("bad", BAD, errors=True),
    Group("modality", MODALITY, refused=True),
    Group("abort", (ENDLESS, generate(BATCH[0]))),
    Group("information", tuple(Request(path, None, "GET") for path in ("/model_info", "/v1/models", "/health"))),
)
EXTRA: dict[str, tuple[Group, ...]] = {
    "weights": (
        Group("other-weights", (Request("/update_weights_from_disk", {"model_path": "CHECKPOINTS/other"}),), once=True),
        Group("other-answers", (generate(BATCH),)),
        Group(
            "no-weights",
            (Request("/update_weights_from_disk", {"model_path": "CHECKPOINTS/none"}),),
            once=True,
            errors=True,
        ),
        Group("old-weights", (Request("/update_weights_from_disk", {"model_path": "CHECKPOINTS/bf16"}),), once=True),
        Group("old-answers", (generate(BATCH),)),
        Group(
            "one-weight",
            (Request("/get_weights_by_name", {"name": "model.norm.weight", "truncate_size": 8}),),
            errors=True,  # upstream's DeepSeek models have no such method
        ),
    ),
    "memory": (
        Group("sleep", (Request("/release_memory_occupation", {}),), once=True),
        Group("wake", (Request("/resume_memory_occupation", {}),), flush=False, once=True),
        Group("refill", (Request("/update_weights_from_disk", {"model_path": "CHECKPOINTS/bf16"}),), once=True),
        Group("awake", (generate(BATCH),)),
    ),
    "lora": (
        Group(
            "load",
            (Request("/load_lora_adapter", {"lora_name": "tiny-adapter", "lora_path": "CHECKPOINTS/adapter"}),),
            once=True,
        ),
        Group("adapted", (generate(BATCH, lora_path=["tiny-adapter", None, "tiny-adapter", None]),)),
        Group("unload", (Request("/unload_lora_adapter", {"lora_name": "tiny-adapter"}),), once=True),
        Group("unloaded", (generate(BATCH[0], lora_path="tiny-adapter"), generate(BATCH[0]))),
    ),
    # 1,500 tokens four times do not fit into the pool of 4,096: the first prompt goes to host memory and comes back.
    "evict": (Group("evicted", tuple(generate(prompt(1500, salt)) for salt in (1, 2, 3, 4, 1))),),
    "metrics": (Group("metric-names", (Request("/metrics", None, "GET"),)),),
}


EVERY = (*COMMON, *(group for extra in EXTRA.values() for group in extra))
REFUSED = frozenset(group.name for group in EVERY if group.refused)
ERRORS = frozenset(group.name for group in EVERY if group.errors or group.refused)
GENERATES = frozenset(group.name for group in EVERY if group.generates)


def groups(extra: tuple[str, ...]) -> Iterator[Group]:
    """The groups of a cell, in order."""
    yield from COMMON
    for name in extra:
        yield from EXTRA[name]
