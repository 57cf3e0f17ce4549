"""Packaging of the generated tree: ``pyproject.toml`` with what kept code imports, and NOTICE."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.message import Message
from email.parser import Parser

from pruner.model import Outcome, Snapshot
from pruner.pipeline import needs
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.launch import launch_kit
from pruner.pipeline.needs import Dropped, Near

_DROPPED_EXTRAS = frozenset({"diffusion", "test", "all", "dev"})

NOTICE = """This tree was made from {name} {version} by prune. Parts were removed; where a removal asked for it, a
literal, `pass`, `if` or `else`, or a call of the guard module stands in their place. No other text was
changed. Modified files say so in a comment at their head; PRUNED.json has the upstream digest, the
rules and the kept line ranges of every file. The licence of the upstream project applies unchanged.
"""


def _header(snapshot: Snapshot) -> tuple[str, Message] | None:
    """The path of a wheel's metadata, and what they say."""
    metadata = next((f.path for f in snapshot.files if f.path.endswith(".dist-info/METADATA")), None)
    if metadata is None:
        return None
    return metadata, Parser().parsestr(snapshot.read(metadata).decode("utf-8", "replace"))


def _plain(header: Message) -> list[str]:
    return [r for r in header.get_all("Requires-Dist", []) if "extra ==" not in r]


def look_ahead(snapshot: Snapshot, ahead: Ahead) -> Callable[[], Near]:
    """See :func:`pruner.pipeline.needs.look_ahead`."""
    found = _header(snapshot)
    return needs.look_ahead(_plain(found[1]), snapshot, ahead) if found is not None else dict


def packaging(
    snapshot: Snapshot, outcome: Outcome, near: Near | None = None
) -> tuple[dict[str, bytes], tuple[Dropped, ...]]:
    """Extra files for a wheel's tree, and the dependencies that went; nothing for trees without ``*.dist-info/METADATA``.

    ``near``: what :func:`look_ahead` gave.
    """
    found = _header(snapshot)
    if found is None:
        return {}, ()
    metadata, header = found
    name, version = header["Name"], header["Version"]
    needed, dropped = needs.sort_out(_plain(header), snapshot, outcome, near)
    scripts = _scripts(snapshot, metadata.rpartition("/")[0])
    licence = next((f.path for f in snapshot.files if f.path.endswith("/licenses/LICENSE")), None)
    text = _pyproject(name, version, header["Requires-Python"] or ">=3.10", needed, _extras(header), scripts)
    text += _platform(snapshot, outcome, metadata.rpartition("/")[0])
    if licence is None:
        text = text.replace('license = {file = "LICENSE"}\n', "")
    more = {"LICENSE": snapshot.read(licence)} if licence else {}
    notice = NOTICE.format(name=name, version=version)
    more |= launch_kit(snapshot, outcome, needed)
    return more | {"pyproject.toml": text.encode(), "NOTICE": notice.encode()}, dropped


def _extras(header: Message) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for requirement in header.get_all("Requires-Dist", []):
        match = re.search(r"""extra == ["']([^"']+)["']""", requirement)
        if match is None or match.group(1) in _DROPPED_EXTRAS:
            continue
        bare = (
            re.sub(r"""\s*(and\s+)?\(?\s*extra == ["'][^"']+["']\s*\)?""", "", requirement).strip().rstrip(";").strip()
        )
        found.setdefault(match.group(1), []).append(bare)
    return found


def _platform(snapshot: Snapshot, outcome: Outcome, info: str) -> str:
    """What the wheel that is built of the tree says it runs on: what upstream's says, as long as compiled code is in it.

    setuptools, which compiles nothing here, takes the tree for one of pure Python, whose wheel any host would install.
    """
    path = f"{info}/WHEEL"
    known = {file.path for file in snapshot.files}
    if path not in known or not any(p.endswith(".so") and outcome.files.get(p, b"") is not None for p in known):
        return ""
    tags = re.findall(r"^Tag: (\w+)-(\w+)-(\w+)\s*$", snapshot.read(path).decode("utf-8", "replace"), re.M)
    if not tags or tags[0][2] == "any":
        return ""
    python, abi, platform = tags[0]
    # setuptools leaves the middle part out; `cp39-none` is 3.9 alone, `py39-none` 3.9 and later.
    python = python.replace("cp", "py") if abi == "abi3" else python
    return f"\n[tool.distutils.bdist_wheel]\npython-tag = {_quote(python)}\nplat-name = {_quote(platform)}\n"


def _scripts(snapshot: Snapshot, info: str) -> dict[str, dict[str, str]]:
    path = f"{info}/entry_points.txt"
    if not any(f.path == path for f in snapshot.files):
        return {}
    from configparser import ConfigParser

    parser = ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(snapshot.read(path).decode("utf-8"))
    return {section: dict(parser[section]) for section in parser.sections()}


def _quote(text: str) -> str:
    import json

    return json.dumps(text)


def _pyproject(
    name: str,
    version: str,
    python: str,
    needed: list[str],
    extras: dict[str, list[str]],
    scripts: dict[str, dict[str, str]],
) -> str:
    lines = ["[build-system]", 'requires = ["setuptools>=61"]', 'build-backend = "setuptools.build_meta"', ""]
    lines += [
        "[project]",
        f"name = {_quote(name)}",
        f"version = {_quote(version)}",
        f"requires-python = {_quote(python)}",
        'license = {file = "LICENSE"}',
    ]
    lines += ["dependencies = [", *(f"    {_quote(r)}," for r in needed), "]", ""]
    if extras:
        lines.append("[project.optional-dependencies]")
        for extra, requirements in extras.items():
            lines += [f"{_quote(extra)} = [", *(f"    {_quote(r)}," for r in requirements), "]"]
        lines.append("")
    for section, entries in scripts.items():
        title = "project.scripts" if section == "console_scripts" else f'project.entry-points."{section}"'
        lines += [f"[{title}]", *(f"{_quote(k)} = {_quote(v)}" for k, v in entries.items()), ""]
    lines += ["[tool.setuptools.packages.find]", 'include = ["sglang*"]', "namespaces = true", ""]
    lines += ["[tool.setuptools.package-data]", '"*" = ["**/*", "**/.*"]', ""]
    return "\n".join(lines)
