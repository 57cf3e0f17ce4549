"""Write ARCHITECTURE.md's table of blind spots from the modules' docstrings: ``python -m tests.docs.blind``."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.docs.console import ROOT

_BLOCK = re.compile(r"(<!-- blind -->\n).*?(<!-- end -->)", re.DOTALL)


def blind_spots() -> dict[str, str]:
    """Module below ``pruner`` to what its docstring says that it is blind to."""
    found = {}
    for path in sorted((ROOT / "pruner").rglob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        match = re.search(r"\bBlind(?: to)?:? (.*?)(?:\n\n|\Z)", text, re.DOTALL)
        if match:
            name = ".".join(path.relative_to(ROOT / "pruner").with_suffix("").parts).removesuffix(".__init__")
            words = " ".join(match[1].replace("``", "`").split())
            found[name] = re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", words).replace("|", r"\|")
    return found


def table() -> str:
    """The rows, as Markdown."""
    rows = [f"| `{name}` | {text} |" for name, text in blind_spots().items()]
    return "\n".join(["| module | blind to |", "| --- | --- |", *rows]) + "\n"


def main(page: Path = ROOT / "ARCHITECTURE.md") -> None:
    """Rewrite the block of the page."""
    text, count = _BLOCK.subn(lambda found: found[1] + table() + found[2], page.read_text("utf-8"))
    if count != 1:
        raise SystemExit(f"{page.name}: {count} blocks")
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
