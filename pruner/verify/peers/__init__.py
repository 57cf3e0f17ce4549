"""Runs upstream's own tests on both trees and compares them test by test.

Blind to what the tests do not ask, and to tests that need a GPU: on both trees those fail or are skipped alike.
"""

from pruner.verify.peers.compare import Difference, Outcome, Reason, Why, compare
from pruner.verify.peers.run import CHECK, Again, Gone, Ran, run

__all__ = ["CHECK", "Again", "Difference", "Gone", "Outcome", "Ran", "Reason", "Why", "compare", "run"]
