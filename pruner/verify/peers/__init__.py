"""Runs upstream's own tests on both trees and compares them test by test.

Blind to what the tests do not ask, and to tests that need a GPU: on both trees those fail or are skipped alike.
"""

from pruner.verify.peers.compare import Outcome, compare
from pruner.verify.peers.run import CHECK, run

__all__ = ["CHECK", "Outcome", "compare", "run"]
