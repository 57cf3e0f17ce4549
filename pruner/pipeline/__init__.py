"""The order of work: open, load rules, specialise, write aside, verify, swap in, report."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pruner.pipeline.checks import PeerOptions, VerifyOptions, peer_verdict, verify_output
    from pruner.pipeline.run import RunOptions, run, run_case
    from pruner.pipeline.standing import telling

__all__ = ["PeerOptions", "RunOptions", "VerifyOptions", "peer_verdict", "run", "run_case", "telling", "verify_output"]
_HOMES = {
    "pruner.pipeline.checks": ("PeerOptions", "VerifyOptions", "peer_verdict", "verify_output"),
    "pruner.pipeline.run": ("RunOptions", "run", "run_case"),
    "pruner.pipeline.standing": ("telling",),
}


def __getattr__(name: str) -> Any:
    """A question to the last run needs none of the engine: what runs is imported when it is asked for."""
    if name not in __all__:
        raise AttributeError(name)
    # Importing the module ``run``, also by another one, puts it where the function belongs: that is set, once.
    for home in ("pruner.pipeline.run", next(home for home, names in _HOMES.items() if name in names)):
        module = import_module(home)
        globals().update({known: getattr(module, known) for known in _HOMES[home]})
    return globals()[name]
