"""Console blocks of Markdown pages: commands and what they print."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "@@command"


@dataclass(frozen=True, slots=True)
class Command:
    """One command with its here-document, the page's line it stands on, and the lines it should print."""

    line: int
    text: str
    expected: tuple[str, ...]


def commands(page: str) -> list[Command]:
    """Every command of a page's console blocks, in order."""
    found: list[Command] = []
    for block in _BLOCK.finditer(page):
        line = page.count("\n", 0, block.start()) + 2
        text, start, output, ending = "", 0, [], ""
        for offset, row in enumerate(block[1].splitlines()):
            if ending:
                text += f"\n{row}"
                ending = "" if row == ending else ending
            elif row.startswith("$ "):
                if text:
                    found.append(Command(start, text, tuple(output)))
                text, start, output = row[2:], line + offset, []
                here = re.search(r"<<'(\w+)'", row)
                ending = here[1] if here else ""
            else:
                output.append(row)
        found.append(Command(start, text, tuple(output)))
    return found


def run(rows: list[Command], folder: Path) -> list[list[str]]:
    """Run all commands in one shell in ``folder``; what each printed on either stream, as lines."""
    tools = folder / ".tools"
    tools.mkdir()
    for name, line in (
        ("prune", f'exec "{sys.executable}" -m pruner "$@"'),
        ("python3", f'exec "{sys.executable}" "$@"'),
    ):
        path = tools / name
        # PYTHONPATH for the tool alone: the programs that a page runs must not find ours.
        extra = f'PYTHONPATH="{ROOT}" ' if name == "prune" else ""
        path.write_text(f"#!/bin/sh\n{extra}{line}\n" if not extra else f"#!/bin/sh\nexport {extra}\n{line}\n", "utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    script = "exec 2>&1\ncode=0\n"
    for index, row in enumerate(rows):
        script += f"echo; echo {_MARK} {index}\n(exit $code)\n{row.text}\ncode=$?\n"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_", "GIT_"))}
    environment |= {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "80",
        "LC_ALL": "C.UTF-8",
    }
    environment |= {"PRUNE_CACHE": str(folder / ".cache"), "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    printed: list[list[str]] = []
    for part in done.stdout.decode("utf-8").split(f"\n{_MARK} ")[1:]:
        printed.append(part.split("\n", 1)[1].removesuffix("\n").split("\n") if "\n" in part else [])
    return [[] if lines == [""] else lines for lines in printed]


def matches(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Are the lines as shown? ``...`` alone stands for any lines, inside a line for any text."""
    pattern = ""
    expected, printed = tuple(map(_narrow, expected)), list(map(_narrow, printed))
    for row in expected:
        if row == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in row.split("...")) + "\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def _narrow(line: str) -> str:
    """The width of a table depends on its longest row, which a page need not show."""
    return re.sub(r" +│$", " │", line) if line.startswith("│") else line
