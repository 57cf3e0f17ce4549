"""Passes propose edits; the pipeline disposes."""

from pruner.passes.rewrite import FileEdits, rewrite

__all__ = ["FileEdits", "rewrite"]
