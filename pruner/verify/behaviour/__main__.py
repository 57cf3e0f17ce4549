"""``python -m pruner.verify.behaviour UPSTREAM OUTPUT PYTHON [RULES.yaml ...]``: the verdicts, for people."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pruner.verify.behaviour import Design, run

# Enough for a quick look from the shell; the pipeline hands over what it parsed.
ENTRY = re.compile(r"^\s*-\s*([\w.]+\[[^\]]+\])", re.MULTILINE)
PACKAGE = re.compile(r"^      package: ([\w.]+)\n      members:((?:\n        - .*| \[\])*)", re.MULTILINE)
MEMBER = re.compile(r"- (\w+)")


def main(words: list[str]) -> int:
    """Print each verdict; 3 when one is refuted."""
    upstream, output, python, *rules = words
    texts = [Path(file).read_text(encoding="utf-8") for file in rules]
    drops = [found for text in texts for found in ENTRY.findall(text)]
    members = {package: MEMBER.findall(body) for text in texts for package, body in PACKAGE.findall(text)}
    refuted = False
    for verdict in run(Path(upstream), Path(output), Path(python), design=Design(drops, members)):
        print(f"{verdict.check}: {verdict.result}, {verdict.seconds:.0f} s: {verdict.covered}")
        for line in verdict.details:
            print(f"  {line}")
        refuted |= verdict.result == "refuted"
    return 3 if refuted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
