"""The pages agree with the code: codes, links, options, targets of make, layers, blind spots."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from pruner.cli.commands import prune
from pruner.errors import PruneError
from pruner.policy import load
from tests.docs import figures
from tests.docs.blind import blind_spots
from tests.docs.console import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "rules").glob("*.md")]
    + [*(ROOT / "examples").rglob("*.md"), ROOT / "upstream" / "README.md", ROOT / "reports" / "README.md"]
)
TROUBLE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
_SECTION = re.compile(r"^### (PR\d{3})\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(TROUBLE))
EXAMPLES = {
    code: found[1] for code, text in SECTIONS.items() if (found := re.search(r"```yaml\n(.*?)```", text, re.DOTALL))
}


def sources() -> list[Path]:
    """Python files of the tool."""
    return sorted((ROOT / "pruner").rglob("*.py"))


def test_every_code_has_a_paragraph() -> None:
    used = {code for path in sources() for code in re.findall(r'"(PR\d{3})"', path.read_text("utf-8"))}
    assert used == SECTIONS.keys()
    assert all(len(text.strip()) > 20 for text in SECTIONS.values())


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_example_has_its_fault(code: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(EXAMPLES[code], "utf-8")
    with pytest.raises(PruneError) as caught:
        load([path])
    assert [row.code for row in caught.value.diagnostics] == [code]


def test_every_fault_of_rules_has_an_example() -> None:
    assert {code for code in SECTIONS if code.startswith("PR0")} - EXAMPLES.keys() == {
        "PR012",
        "PR017",
        "PR018",
        "PR019",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    anchors = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
    for link in anchors.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in slugs, f"{page.name}: {link}"


def shown() -> list[tuple[str, str]]:
    """Commands that the pages show: lines of indented and fenced blocks, and code spans."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        rows = re.findall(r"^(?: {4}|\$ )((?:prune|make) .*)$", text, re.MULTILINE) + re.findall(
            r"`((?:prune|make) [^`\n]+)`", text
        )
        found += [(page.name, row.partition("   ")[0].partition(" #")[0].strip()) for row in rows]
    return sorted(set(found))


def _parse(command: click.Command, words: list[str]) -> None:
    """As click would, files need not be there. Raises click.UsageError."""
    if not words or not isinstance(command, click.Group):
        options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        for word in words:
            if word.startswith("-") and word != "-":
                assert word.partition("=")[0] in options | {"--help", "-h"}, f"{command.name} has no option {word}"
        return
    for index, word in enumerate(words):
        if word in command.commands:
            _parse(click.Command("prune", params=command.params), words[:index])
            _parse(command.commands[word], words[index + 1 :])
            return
    _parse(click.Command("prune", params=command.params), words)


@pytest.mark.parametrize(("page", "line"), [row for row in shown() if row[1].startswith("prune ")])
def test_shown_options_exist(page: str, line: str) -> None:
    words = shlex.split(re.split(r" (?:2?>|\||&&|<<)", line)[0])[1:]
    assert not page.endswith("tutorial.md") or words
    if words and re.fullmatch(r"[a-z]+", words[0]):
        assert isinstance(prune, click.Group) and words[0] in prune.commands, f"{page}: {line}"
    _parse(prune, words)


def test_shown_targets_of_make_exist() -> None:
    names = {
        word
        for _, line in shown()
        if line.startswith("make ")
        for word in line.split()[1:2]
        if re.fullmatch(r"[a-z-]+", word)
    }
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)) | {
        "prune",
        "prune-tree",
        "case",
    }
    assert {"prune", "test"} <= names <= known


def test_architecture_shows_the_enforced_layers() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    rows = next(c["layers"] for c in config["contracts"] if c["id"] == "layers")
    wanted = [re.sub(r"[() ]", "", row) for row in rows]
    block = re.search(r"```text layers\n(.*?)```", ARCHITECTURE, re.DOTALL)
    assert block is not None
    found = [re.sub(r" ", "", line[:40]) for line in block[1].splitlines()]
    assert found == wanted


def test_architecture_names_every_blind_spot() -> None:
    """When this fails: ``python -m tests.docs.blind``."""
    section = ARCHITECTURE.partition("## What each part is blind to")[2].partition("\n## ")[0]
    assert blind_spots().keys() <= set(re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE))


def test_a_docstring_that_says_blind_is_read() -> None:
    spoken = [
        path
        for path in sources()
        if re.search(r"\b[Bb]lind to\b", ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")
    ]
    assert len(spoken) == len(blind_spots())


def test_figures_are_in_step() -> None:
    """README quotes the run that docs/figures.md records; ``python -m tests.docs.figures LOG`` writes both."""
    blocks = []
    for name in ("README.md", "docs/figures.md"):
        found = re.search(r"<!-- run -->\n(.*?)<!-- end -->", (ROOT / name).read_text("utf-8"), re.DOTALL)
        assert found is not None, name
        blocks.append(found[1])
    assert blocks[0] == blocks[1]


def test_a_log_is_quoted_without_what_tools_say_of_the_machine() -> None:
    """pip warns of the places of the machine's own indexes; no page may hold them."""
    log = "\n".join(
        (
            "make[1]: Entering directory '/x'",
            "WARNING: Location 'file:///srv/simple/rich/' is ignored: it is neither a file nor a directory.",
            "[notice] A new release of pip is available",
            "mark: 1.0 s  ",
        )
    )
    assert figures.excerpt(log) == "mark: 1.0 s\n"
    for name in figures.PAGES:
        assert "WARNING: " not in (ROOT / name).read_text("utf-8") and "file:///" not in (ROOT / name).read_text(
            "utf-8"
        )
