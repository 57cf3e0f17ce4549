"""The order of work: open, load rules, specialise, write aside, verify, swap in, report."""

from pruner.pipeline.checks import VerifyOptions, peer_verdict, verify_output
from pruner.pipeline.run import RunOptions, run, run_case

__all__ = ["RunOptions", "VerifyOptions", "peer_verdict", "run", "run_case", "verify_output"]
