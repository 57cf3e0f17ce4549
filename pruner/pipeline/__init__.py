"""The order of work: open, load rules, specialise, write aside, verify, swap in, report."""

from pruner.pipeline.run import RunOptions, run, run_case, verify_output

__all__ = ["RunOptions", "run", "run_case", "verify_output"]
