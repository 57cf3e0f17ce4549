"""The order of work: open, load rules, specialise, write aside, verify, swap in, report."""

from pruner.pipeline.checks import VerifyOptions, verify_output
from pruner.pipeline.run import RunOptions, run, run_case

__all__ = ["RunOptions", "VerifyOptions", "run", "run_case", "verify_output"]
