"""The command line. The only package that imports click."""

from pruner.cli.main import main

__all__ = ["main"]
