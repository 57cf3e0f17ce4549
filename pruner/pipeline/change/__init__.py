"""What changed in the cut between two runs: other releases under the same rules, or other rules."""

from pruner.pipeline.change.document import change

__all__ = ["change"]
