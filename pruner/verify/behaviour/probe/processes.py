"""What every process of a server makes before it serves, made here: scheduler, tokenizer and detokenizer manager.

A forward through the runner (:mod:`pruner.verify.behaviour.probe.layers`) needs none of them. A rule once dropped a
function that every scheduler calls while it is made: each module was imported, each model ran, and no server started.

Blind to what only arguments other than these make (metrics, speculation, disaggregation, adapters), and to what is
first called when a request comes.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

MANAGERS = "sglang.srt.managers."


def scheduler(args: Any, ports: Any) -> Any:
    """The process of one card: model, worker, caches, policies."""
    made = importlib.import_module(f"{MANAGERS}scheduler").Scheduler
    ranks = list(inspect.signature(made.__init__).parameters)[3:]
    return made(args, ports, **{name: None if name == "dp_rank" else 0 for name in ranks})


def tokenizer(args: Any, ports: Any) -> Any:
    """The HTTP server's side."""
    return importlib.import_module(f"{MANAGERS}tokenizer_manager").TokenizerManager(args, ports)


def detokenizer(args: Any, ports: Any) -> Any:
    """What turns ids into text."""
    return importlib.import_module(f"{MANAGERS}detokenizer_manager").DetokenizerManager(args, ports)


PROCESSES: dict[str, Callable[[Any, Any], Any]] = {
    "scheduler": scheduler,
    "tokenizer manager": tokenizer,
    "detokenizer manager": detokenizer,
}
