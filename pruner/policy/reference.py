"""The schema of rule files as a page for people: every key with its value, every verb with an example."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML

from pruner.policy.rule import VERBS
from pruner.policy.schema import json_schema

_HEAD = """\
# Rules: reference

Every key of a rule file, made from the JSON Schema by `prune rules schema --markdown`; do not edit it.
What the words mean, subjects and targets among them, is in [rules.md](rules.md). A *constant* is text, a number,
true, false or null.
"""
_SCALARS = {"string": "text", "number": "number", "integer": "integer", "boolean": "true or false", "null": "null"}


def reference() -> str:
    """The page, as Markdown."""
    schema = json_schema()
    rule = schema["properties"]["rules"]["items"]
    parts = [_HEAD, "## A rule file\n", *_table(schema), "## A rule\n", "Exactly one verb, and these keys:\n"]
    verbs = {name: rule["properties"][name] for name in VERBS}
    parts += _table({**rule, "properties": {k: v for k, v in rule["properties"].items() if k not in verbs}})
    for name, verb in verbs.items():
        parts += [f"## `{name}`\n", f"{verb['description']} Value: {_value(verb)}.\n"]
        for title, inner in dict(_named(verb)).items():
            parts += [f"A *{title}* has these keys:\n", *_table(inner)]
        for example in verb["examples"]:
            parts += [
                "```yaml",
                _yaml({"rules": [{"id": "site.example", "because": "It is so.", name: example}]}) + "```\n",
            ]
    return "\n".join(parts).rstrip() + "\n"


def _table(schema: dict[str, Any]) -> list[str]:
    rows = ["| key | value | meaning |", "| --- | --- | --- |"]
    for name, part in schema["properties"].items():
        needed = " (required)" if name in schema.get("required", ()) else ""
        rows.append(f"| `{name}`{needed} | {_value(part)} | {part['description']} |")
    return ["\n".join(rows) + "\n"]


def _value(part: dict[str, Any]) -> str:
    """What may stand there, in words."""
    if "anyOf" in part and "type" not in part:
        return ", or ".join(_value(option) for option in part["anyOf"])
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if isinstance(part["type"], list):
        return "constant"
    if part["type"] == "array":
        return f"list of {_value(part['items'])}"
    if part["type"] == "object":
        if "title" in part:
            return f"a *{part['title']}*"
        if "properties" in part:
            return (
                "mapping with " + ", ".join(f"`{key}`" for key in part["properties"])
                if len(part["properties"]) < 4
                else "rule"
            )
        return f"mapping to {_value(part['additionalProperties'])}"
    return _SCALARS[part["type"]]


def _named(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts that have keys of their own, by title, the outer first."""
    if isinstance(part, dict):
        if "properties" in part and "title" in part:
            yield part["title"], part
        for value in part.values():
            yield from _named(value)
    elif isinstance(part, list):
        for value in part:
            yield from _named(value)


def _yaml(value: Any) -> str:
    yaml = YAML()
    yaml.default_flow_style = None
    yaml.width = 100
    out = io.StringIO()
    yaml.dump(value, out)
    return out.getvalue()
