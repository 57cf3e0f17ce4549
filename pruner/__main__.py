"""``python -m pruner``, and the console script ``prune``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the exit code is one of :class:`pruner.errors.ExitCode`, or 130 when interrupted."""
    from pruner.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
