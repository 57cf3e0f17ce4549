"""Passes propose edits; the pipeline disposes."""

from pruner.passes.calls import ABSENT, Call
from pruner.passes.rewrite import FileEdits, rewrite

__all__ = ["ABSENT", "Call", "FileEdits", "rewrite"]
