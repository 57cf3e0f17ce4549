"""Judges an output tree against the upstream tree and the rules, sharing no code with the transformer.

The checks are those of :data:`CHECKS` (levels 1 to 3 of the design). The transformer's ledger is never read: each removal is justified again
from the upstream text, the verifier's own folding, and the names in the kept tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pruner.verify.driver import CHECKS, run

__all__ = ["CHECKS", "run"]


def __getattr__(name: str) -> Any:
    """Half of a second of modules, which a process of its own imports while the run reads upstream."""
    if name not in __all__:
        raise AttributeError(name)
    from pruner.verify import driver

    return getattr(driver, name)
