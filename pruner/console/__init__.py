"""What a person sees while a run is on and at its end. Everything goes to stderr.

Blind to: what the figures mean; it lays out rows that others computed.
"""

from pruner.console.screen import Screen

__all__ = ["Screen"]
