"""Places in free text: a traceback, a log, a list of ``file:line``."""

from __future__ import annotations

import re
from collections.abc import Callable

from pruner.pipeline.patch.linemap import LineMap

# `File "/x/sglang/a.py", line 3`, `sglang/a.py:3`, `sglang/a.py(3)`
_PLACE = re.compile(
    r'"(?P<quoted>[^"\n]+\.\w+)(?P<after>", line )(?P<number>\d+)'  # a folder's name may hold blanks
    r"|(?P<path>(?:\b[A-Za-z]:)?[\w./\\~+-]+\.\w+)(?P<middle>:|\(|, line )(?P<line>\d+)"
)


def retrace(text: str, lines: LineMap, absent: Callable[[str, int], str]) -> tuple[str, int]:
    """The text with every place of the tree written as the other tree's, and how many there were.

    A line that is not in the other tree keeps its number; ``absent`` says what to put behind it.
    """
    count = 0

    def change(found: re.Match[str]) -> str:
        nonlocal count
        path = lines.find(found["quoted"] or found["path"])
        number = int(found["number"] or found["line"])
        if path is None:
            return found[0]
        count += 1
        other = lines.line(path, number)
        shown = number if other is None else other
        note = "" if other is not None else f" [{absent(path, number)}]"
        quote = '"' if found["quoted"] else ""
        return f"{quote}{path}{found['after'] or found['middle']}{shown}{note}"

    return _PLACE.sub(change, text), count
