"""Judges an output tree against the upstream tree and the rules, sharing no code with the transformer.

Eight checks (levels 1 to 3 of the design): ``compile``, ``lint``, ``imports``, ``tokens``, ``native``, ``fold``,
``discard``, ``modules``. The transformer's ledger is never read: each removal is justified again
from the upstream text, the verifier's own folding, and the names in the kept tree.
"""

from pruner.verify.driver import CHECKS, run

__all__ = ["CHECKS", "run"]
