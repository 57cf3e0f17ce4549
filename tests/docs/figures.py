"""Copy the log of a run into README.md and docs/figures.md: ``python -m tests.docs.figures run.log``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.docs.console import ROOT

PAGES = ("README.md", "docs/figures.md")
_BLOCK = re.compile(r"(<!-- run -->\n```text\n).*?(```\n<!-- end -->)", re.DOTALL)
_NOISE = re.compile(
    r"^((?:WARNING|DEPRECATION|\[notice\]).*|\x1b\[.*|make\[?.*|setting up .*|prune: exit status 0|(?:real|user|sys)\s.*)$"
)


def excerpt(log: str) -> str:
    """The log without make's own lines and without blanks at the ends of lines."""
    rows = [row.rstrip() for row in log.splitlines()]
    return "".join(f"{row}\n" for row in rows if row and not _NOISE.match(row))


def main(arguments: list[str]) -> None:
    """Rewrite the blocks of all pages."""
    text = excerpt(Path(arguments[0]).read_text("utf-8"))
    for name in PAGES:
        path = ROOT / name
        page, count = _BLOCK.subn(lambda found: found[1] + text + found[2], path.read_text("utf-8"))
        if count != 1:
            raise SystemExit(f"{name}: {count} blocks")
        path.write_text(page, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
