"""The unified diff that turns the upstream tree into the generated one, as ``git diff --binary`` writes it."""

from pruner.report.diff.tree import write_diff

__all__ = ["write_diff"]
