"""Judges an output tree by running it beside upstream, without a GPU.

Five checks (levels 4 and 5 of the design): ``import-run``, ``names``, ``surface``, ``arguments``, ``plain-host``.
Both trees run in subprocesses of an interpreter that has a server's packages; torch answers as on a named GPU, and
stand-ins take the place of kernel packages. No kernel runs: what a kernel computes is not looked at.
"""

from pruner.verify.behaviour.design import design
from pruner.verify.behaviour.runner import CHECKS, STAGES, Design, not_run, run

__all__ = ["CHECKS", "STAGES", "Design", "design", "not_run", "run"]
