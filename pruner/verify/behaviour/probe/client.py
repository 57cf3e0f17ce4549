"""Commands as a client host runs them: no GPU, no kernel packages. Exit code, exception, parser, output."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import runpy
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from . import forks
from .describe import Describer

FRESH = 4
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("import sglang",),
    ("sglang.launch_server", "--help"),
    ("sglang.bench_serving", "--help"),
    ("sglang.bench_one_batch_server", "--help"),
    ("sglang.cli.main:main", "--help"),
    ("sglang.cli.main:main", "serve", "--help"),
    ("sglang.cli.main:main", "version"),
    ("sglang.bench_one_batch", "--help"),
    ("sglang.bench_offline_throughput", "--help"),
    ("sglang.compile_deep_gemm", "--help"),
    ("sglang.profiler", "--help"),
    ("sglang.test.run_eval", "--help"),
    ("sglang.test.few_shot_gsm8k", "--help"),
    ("sglang.test.send_one", "--help"),
    ("sglang.check_env",),
)
HEAVY = "sglang.srt.entrypoints.engine"
SHARED = ("torch", "transformers", "triton", "numpy", "pydantic", "fastapi", "aiohttp", "datasets", "sglang")


def parser(found: argparse.ArgumentParser, describer: Describer) -> list[dict[str, Any]]:
    """The actions of a parser, subparsers included."""
    rows = []
    for action in found._actions:
        row: dict[str, Any] = {
            "options": list(action.option_strings) or [action.dest],
            "dest": action.dest,
            "action": type(action).__name__,
            "nargs": describer.value(action.nargs),
            "default": describer.value(action.default),
            "type": getattr(action.type, "__name__", None) and describer.text(action.type.__name__),  # type: ignore[union-attr]
            "required": action.required,
            "metavar": describer.value(action.metavar),
            "choices": None,
        }
        if isinstance(action, argparse._SubParsersAction):
            row["parsers"] = {name: parser(sub, describer) for name, sub in action.choices.items()}
        elif action.choices is not None:
            row["choices"] = sorted(describer.key(choice) for choice in action.choices)
        rows.append(row)
    return rows


def command(words: tuple[str, ...], describer: Describer) -> dict[str, Any]:
    """Run one command in this process, as ``python -m`` does."""
    parsers: list[Any] = []
    ask = argparse.ArgumentParser.parse_known_args

    def noted(self: argparse.ArgumentParser, *args: Any, **kwargs: Any) -> Any:
        parsers.append(parser(self, describer))
        return ask(self, *args, **kwargs)

    argparse.ArgumentParser.parse_known_args = noted  # type: ignore[method-assign]
    shown = io.StringIO()
    row: dict[str, Any] = {"exit": 0}
    with contextlib.redirect_stdout(shown):
        try:
            if words[0].startswith("import "):
                importlib.import_module(words[0].removeprefix("import "))
            elif ":" in words[0]:
                module, _, function = words[0].partition(":")
                sys.argv = ["sglang", *words[1:]]
                getattr(importlib.import_module(module), function)()
            else:
                sys.argv = list(words)
                runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        except SystemExit as error:
            row["exit"] = (
                error.code if error.code is None or isinstance(error.code, int) else describer.text(error.code)
            )
        except BaseException as error:
            row.update(describer.failure(error), exit=1)
    row["parsers"] = parsers
    row["lines"] = len(shown.getvalue().splitlines())
    return row


def run_all(limit: float, describer: Describer) -> dict[str, Any]:
    """Every command in a child. The first :data:`FRESH` import the tree anew; the others share what they import."""
    for name in SHARED:
        # What fails here fails again in each command, where it counts.
        with contextlib.suppress(BaseException):
            importlib.import_module(name)

    def steps(commands: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, forks.Step]]:
        return ((" ".join(words), partial(command, words, describer)) for words in commands)

    answers = forks.each(steps(COMMANDS[:FRESH]), limit / 2)
    try:
        importlib.import_module(HEAVY)
    except BaseException as error:
        print(f"{HEAVY} cannot be shared: {error!r}", file=sys.stderr)
    answers.update(forks.each(steps(COMMANDS[FRESH:]), limit / 2))
    return answers
