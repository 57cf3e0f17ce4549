"""The comment under a pull request: the verdict first, then what to look at, then the comparison folded away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pruner.model import Finding
from pruner.report.change import change_markdown
from pruner.report.short import in_short
from pruner.report.text import code, number, share, table

MOST = 25
LONGEST = 60_000
"""Characters; GitHub refuses a comment of more than 65,536."""
WORDS = {0: "clean", 1: "look at the findings", 3: "**refuted, do not ship**"}


def comment(
    document: Mapping[str, Any], findings: Sequence[Finding], exit_code: int, suggestions: Sequence[str]
) -> str:
    """Markdown, bounded, no source text."""
    base, head = document["base"], document["head"]
    one, two = (share(side["python"]["after"], side["python"]["before"]) for side in (base, head))
    out = [
        f"## prune: {WORDS.get(exit_code, 'cannot run')}",
        "",
        f"{_name(base)} → {_name(head)}: {number(base['python']['after'])} ({one}) → "
        f"{number(head['python']['after'])} ({two}) Python lines kept, {number(len(findings))} findings.",
        "",
        *(f"* {line}" for line in in_short(document)),
    ]
    if findings:
        cells = [
            (code(f"{row.path}:{row.line}" if row.line else row.path), row.code, row.text, row.advice)
            for row in findings[:MOST]
        ]
        out += ["", *table(("place", "code", "finding", "what to do"), cells)]
        if len(findings) > MOST:
            out += ["", f"{number(len(findings) - MOST)} more in the SARIF log."]
    if suggestions:
        out += ["", "Rules to paste, if the words are platforms:", "", "```yaml", *suggestions, "```"]
    page = change_markdown(document, level=3)
    text = "\n".join([*out, "", "<details><summary>What changed in the cut</summary>", "", page, "</details>", ""])
    if len(text) <= LONGEST:
        return text
    short = page[: LONGEST - len("\n".join(out)) - 200].rpartition("\n")[0]
    rest = "\n\nCut here; `prune diff` gives all of it.\n"
    return "\n".join(
        [*out, "", "<details><summary>What changed in the cut</summary>", "", short + rest, "</details>", ""]
    )


def _name(side: Mapping[str, Any]) -> str:
    origin = side["upstream"]
    return " ".join(filter(None, (origin["name"], origin["version"]))) or origin["snapshot"][:12]
