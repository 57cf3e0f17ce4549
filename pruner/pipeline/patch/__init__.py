"""Unified diffs: read, placed, applied, carried from one tree to the other."""
