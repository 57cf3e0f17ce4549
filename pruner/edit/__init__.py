"""Byte-span edits of one file: check, merge, apply."""

from pruner.edit.apply import apply, kept_ranges, merge, separate, trim_end

__all__ = ["apply", "kept_ranges", "merge", "separate", "trim_end"]
