"""``python -m pruner``, and the console script ``prune``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process.

    The exit code is one of :class:`pruner.errors.ExitCode`, or 130 when interrupted.
    """
    try:
        from pruner.cli import main as run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command line or after it
        print("interrupted; the output is as it was", file=sys.stderr)
        code = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # the reader is gone, or there never was one
            stream.flush()
    # Giving back a million objects one by one takes the interpreter a second that the system needs not.
    os._exit(code)


if __name__ == "__main__":
    main()
