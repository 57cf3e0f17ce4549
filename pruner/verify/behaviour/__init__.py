"""Judges an output tree by running it beside upstream, without a GPU.

Three checks (levels 4 and 5 of the design): ``imports-run``, ``surface``, ``arguments``. Both trees run in
subprocesses of an interpreter that has a server's packages; torch answers as on a named GPU, and stand-ins take the
place of kernel packages. No kernel runs: what a kernel computes is not looked at.
"""

from pruner.verify.behaviour.runner import CHECKS, Design, run

__all__ = ["CHECKS", "Design", "run"]
