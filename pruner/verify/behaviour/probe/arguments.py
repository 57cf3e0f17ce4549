"""Resolve ServerArgs, ModelConfig and what start-up derives from them, as the server does before it loads weights."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import io
import logging
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import forks
from .argument_sets import REMOVED, SETS
from .checkpoints import CHECKPOINTS
from .describe import LONGEST, Describer

LIMIT = 240.0  # seconds for one set, which needs two; a busy machine must not look like a tree that hangs
ALWAYS = "--random-seed 1 --skip-tokenizer-init --host 127.0.0.1 --port 31999"
# Values that differ from run to run.
VOLATILE = frozenset({"SGLANG_RUN_ID", "PROMETHEUS_MULTIPROC_DIR"})


class Notes(logging.Handler):
    """Keeps what the tree logs."""

    def __init__(self, describer: Describer) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        self.describer = describer

    def emit(self, record: logging.LogRecord) -> None:
        """Note level and text; the logger's name and line may differ."""
        self.lines.append(f"{record.levelname} {self.describer.text(record.getMessage())}")


def state(value: Any, describer: Describer) -> dict[str, Any]:
    """The attributes of an instance, also those that are no dataclass fields."""
    held = dict(vars(value)) if hasattr(value, "__dict__") else {}
    if dataclasses.is_dataclass(value):
        held.update({f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)})
    return {name: describer.value(held[name]) for name in sorted(held)}


def configuration(args: Any, draft: bool, describer: Describer) -> dict[str, Any]:
    """The model's configuration as the model runner sees it, and what is chosen by it."""
    from sglang.srt.configs.model_config import ModelConfig  # type: ignore[import-not-found]
    from sglang.srt.model_loader import loader  # type: ignore[import-not-found]
    from sglang.srt.model_loader.utils import get_model_architecture  # type: ignore[import-not-found]

    if draft:
        made = ModelConfig.from_server_args(args, model_path=args.speculative_draft_model_path, is_draft_model=True)
    else:
        made = ModelConfig.from_server_args(args)
    row = state(made, describer)
    for name in ("hf_config", "hf_text_config"):
        row[name] = describer.text(repr(sorted(getattr(made, name).to_dict().items(), key=lambda kv: kv[0])))
    row["architecture"] = attempt(lambda: describer.value(get_model_architecture(made)), describer)
    row["quantization"] = attempt(
        lambda: state(loader._get_quantization_config(made, load(args)), describer), describer
    )
    return row


def load(args: Any) -> Any:
    """A load configuration of the asked format."""
    from sglang.srt.configs.load_config import LoadConfig  # type: ignore[import-not-found]

    return LoadConfig(load_format=args.load_format)


def attempt(step: Callable[[], Any], describer: Describer) -> Any:
    """The answer, or the exception."""
    try:
        return step()
    except (Exception, SystemExit) as error:
        return failed(error, describer)


def failed(error: BaseException, describer: Describer, last: str = "") -> dict[str, Any]:
    """An exception and what a person saw of it: what a parser printed ``last``, or a text that is too long to be described whole."""
    text = str(error)
    shown = last or (text if len(text) > LONGEST else "")
    return {"failure": describer.failure(error), **({"shown": describer.whole(shown)} if shown else {})}


def fields(args: Any) -> list[str]:
    """The arguments by name: since 0.5.20 they are no dataclass, but the annotated names of its classes and what it holds."""
    if dataclasses.is_dataclass(args):
        return [field.name for field in dataclasses.fields(args)]
    declared = [name for kind in type(args).__mro__ for name in inspect.get_annotations(kind)]
    return sorted(name for name in {*declared, *getattr(args, "__dict__", ())} if not name.startswith("_"))


def resolve(words: Sequence[str], describer: Describer) -> dict[str, Any]:
    """One argument set."""
    from sglang.srt import server_args as module  # type: ignore[import-not-found]
    from sglang.srt.entrypoints import engine  # type: ignore[import-not-found]

    notes, before, shown = Notes(describer), dict(os.environ), io.StringIO()
    root = logging.getLogger()
    root.addHandler(notes)
    root.setLevel(logging.INFO)
    row: dict[str, Any] = {}
    with contextlib.redirect_stderr(shown):
        try:
            args = module.prepare_server_args(list(words))
            # Since 0.5.19 making them resolves nothing: the launcher asks for it, and everything before that is raw.
            getattr(args, "resolve_once", lambda: None)()
        except (Exception, SystemExit) as error:
            last = shown.getvalue().strip().rpartition("\n")[2] if isinstance(error, SystemExit) else ""
            return failed(error, describer, last)
    row["arguments"] = state(args, describer)
    view = getattr(module, "resolved_view", lambda value: value)(args)
    names = fields(args)
    row["view"] = {name: describer.value(getattr(view, name, None)) for name in names}
    row["model"] = attempt(lambda: configuration(args, False, describer), describer)
    if getattr(args, "speculative_draft_model_path", None):
        row["draft"] = attempt(lambda: configuration(args, True, describer), describer)
    row["checked"] = attempt(lambda: describer.value(args.check_server_args()), describer)
    prepare = getattr(engine, "_set_envs_and_config", None)
    if prepare is not None:
        row["prepared"] = attempt(lambda: describer.value(prepare(args)), describer)
    row["environment"] = {
        name: describer.text(os.environ.get(name, "(unset)"))
        for name in sorted({*before, *os.environ})
        if before.get(name) != os.environ.get(name) and name not in VOLATILE
    }
    row["log"] = notes.lines
    return row


def run_all(models: Path, only: Sequence[str], describer: Describer) -> dict[str, Any]:
    """Every set in its own child."""
    # Imported once, before the children: the registry of upstream imports 200 model files.
    importlib.import_module("sglang.srt.models.registry")
    places = {name: str(models / name) for name in CHECKPOINTS}

    def step(checkpoint: str, text: str) -> Callable[[], Any]:
        words = [
            word.format(**places) if word.startswith("{") and word[1:-1] in places else word for word in split(text)
        ]
        return lambda: resolve(["--model-path", places[checkpoint], *split(ALWAYS), *words], describer)

    rows = ((name, step(checkpoint, text)) for name, checkpoint, text in (*SETS, *REMOVED) if not only or name in only)
    return forks.each(rows, LIMIT)


def split(text: str) -> list[str]:
    """Words of a command line; JSON stays as it is."""
    return text.split() if "{" in text else shlex.split(text)
