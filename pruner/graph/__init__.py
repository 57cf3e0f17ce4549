"""Linking and marking: symbols, constants, liveness."""
