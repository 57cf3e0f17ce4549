"""Judges an output tree against the upstream tree and the rules, sharing no code with the transformer.

The checks are those of :data:`CHECKS` (levels 1 to 3 of the design). The transformer's ledger is never read: each removal is justified again
from the upstream text, the verifier's own folding, and the names in the kept tree.
"""

from pruner.verify.driver import CHECKS, run

__all__ = ["CHECKS", "run"]
