"""The launch kit: ``launch/`` of a generated server tree, from the templates in ``kit/``.

A file is written only if the tree still has every option and choice that it names; what was left out is told in
``launch/README.md``. Blind to what an option does, and to values that no table of choices holds.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from importlib.resources import files as resources

from pruner.model import Outcome, Snapshot
from pruner.pipeline.offers import Offers, offered

SERVER = "sglang.launch_server"
FOLDER = "launch"
_ARGUMENTS = ("sglang/srt/server_args.py", "sglang/srt/arg_groups/")
# Options whose value is one of a fixed set: the value must stand in the tree's argument modules as a string.
_CHOICES = frozenset(
    "--attention-backend --disaggregation-mode --disaggregation-transfer-backend --kv-cache-dtype --moe-runner-backend "
    "--quantization --reasoning-parser".split()
)
# The names of parsers stand beside them, not among the arguments.
_PARSERS = "reasoning_parser"
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")
_IF_SET = re.compile(r"\$\{(\w+):\+([^}]*)\}")  # an option that is given where its variable is
_UBUNTU = {"3.10": "22.04", "3.11": "22.04", "3.12": "24.04"}


def launch_kit(snapshot: Snapshot, outcome: Outcome, requirements: Sequence[str]) -> dict[str, bytes]:
    """Path → content below the tree's top; nothing where the server was not kept.

    ``requirements`` are the tree's dependencies: they tell the CUDA version of the image.
    """
    text = _arguments(snapshot, outcome)
    if text is None:
        return {}
    offers = Offers()
    for module, data in text.items():
        offers.add(offered(data), module)
    known = set(offers.kinds().get("option", ()))
    strings = b"\n".join([*text.values(), *_parsers(snapshot, outcome)])
    made: dict[str, bytes] = {}
    left: dict[str, str] = {}  # template -> why it is left out
    for name in templates():
        content = _filled(template(name), snapshot, requirements)
        missing = [word for command in commands(content) for word in unknown(command, known, strings)]
        if missing:
            left[name] = f"this release, or this build, has no {', '.join(sorted(set(missing)))}"
        else:
            made[f"{FOLDER}/{name}"] = content.encode()
    gone = [*left]
    for name in sorted(made):
        if started := [other for other in gone if f"/{FOLDER}/{other}".encode() in made[name]]:
            left[name.rpartition("/")[2]] = f"it starts `{started[0]}`"
            del made[name]
    if left:
        rows = [_row(row, left) for row in made[f"{FOLDER}/README.md"].decode().splitlines()]
        kept = [row for row in rows if row is not None]
        made[f"{FOLDER}/README.md"] = "\n".join(
            [*kept, "", "Left out:", "", *(f"- `{name}`: {why}" for name, why in left.items()), ""]
        ).encode()
    return made


def _row(row: str, gone: Collection[str]) -> str | None:
    """A line of the readme without the files that are not there; None for a row of the table that names no other."""
    first, bar, rest = row.removeprefix("| ").partition(" | ")
    names = re.findall(r"`([^`]+)`", first)
    if not row.startswith("| `") or not bar or not set(names) & set(gone):
        return row
    here = ", ".join(f"`{name}`" for name in names if name not in gone)
    return f"| {here} | {rest}" if here else None


def templates() -> list[str]:
    """Names of the templates, sorted."""
    return sorted(entry.name for entry in resources("pruner.pipeline").joinpath("kit").iterdir() if entry.is_file())


def template(name: str) -> str:
    return resources("pruner.pipeline").joinpath("kit", name).read_text("utf-8")


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each start of a server in a file, variables replaced by their defaults, or by their names.

    A command goes to the end of its paragraph: a continued line of a script, or a block of YAML.
    """
    joined = re.sub(r"\\\n", " ", text)
    for found in re.finditer(rf"-m {re.escape(SERVER)}\b(?P<rest>[^\n]*(?:\n[ \t]+--[^\n]*)*)", joined):
        rest = _IF_SET.sub(lambda match: match[2].replace(f"${match[1]}", match[1]), found["rest"])
        rest = _VARIABLE.sub(lambda match: match[2], rest)
        yield [word for word in shlex.split(rest.replace('"$@"', ""), comments=True) if word]


def unknown(command: Sequence[str], known: set[str], strings: bytes) -> Iterator[str]:
    """Options that are not among the known ones, and choices that stand nowhere in ``strings``."""
    for index, word in enumerate(command):
        if not word.startswith("--"):
            continue
        if word not in known:
            yield f"`{word}`"
        value = command[index + 1] if index + 1 < len(command) else ""
        if word in _CHOICES and re.search(rb"[\"']%b[\"']" % re.escape(value.encode()), strings) is None:
            yield f"`{word} {value}`"


def _arguments(snapshot: Snapshot, outcome: Outcome) -> dict[str, bytes] | None:
    """Module path → text of what declares the server's options; None where no server is kept."""
    root = f"{snapshot.python_root}/" if snapshot.python_root else ""
    kept = {file.path for file in snapshot.files if outcome.files.get(file.path, b"") is not None}
    if f"{root}sglang/launch_server.py" not in kept or f"{root}{_ARGUMENTS[0]}" not in kept:
        return None
    wanted = tuple(root + path for path in _ARGUMENTS)
    found = {}
    for path in sorted(kept):
        if path.startswith(wanted) and path.endswith(".py"):
            found[path] = outcome.files.get(path) or snapshot.read(path)
    return found


def _parsers(snapshot: Snapshot, outcome: Outcome) -> Iterator[bytes]:
    """Texts of the kept modules that hold the parsers."""
    for file in snapshot.files:
        here = file.path.rpartition("/")[2].startswith(_PARSERS) and file.path.endswith(".py")
        if here and outcome.files.get(file.path, b"") is not None:
            yield outcome.files.get(file.path) or snapshot.read(file.path)


def _filled(text: str, snapshot: Snapshot, requirements: Sequence[str]) -> str:
    """A template with the versions that the tree asks for."""
    cuda = "13.0.1" if any("cu13" in row or re.match(r"cuda-python>=13", row) for row in requirements) else "12.9.1"
    tags = [found[1] for file in snapshot.files if (found := re.search(r"\.cpython-3(\d+)-[^/]*\.so$", file.path))]
    python = f"3.{tags[0]}" if tags and f"3.{tags[0]}" in _UBUNTU else "3.12"
    for mark, value in {"@CUDA@": cuda, "@PYTHON@": python, "@UBUNTU@": _UBUNTU[python]}.items():
        text = text.replace(mark, value)
    return text
