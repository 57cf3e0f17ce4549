"""``capabilities.json`` and ``capabilities.md``: what the generated tree can do, by kind, key and GPU generation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from pruner.report.text import code, number, table

NAME = "capabilities.json"


def capability_bytes(manifest: Mapping[str, Any]) -> bytes:
    """The JSON document: sorted keys, one value a line."""
    return json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def counts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Kept and dropped capabilities by kind, for the run's document."""
    found: dict[str, Counter[str]] = {}
    for row in manifest["rows"]:
        found.setdefault(row["kind"], Counter())[row["status"]] += 1
    rows = [
        {"kind": kind, "kept": count["kept"], "dropped": count["dropped"], "absent": count["absent"]}
        for kind, count in found.items()
    ]
    return {"rows": rows, "file": NAME, "sha256": sha256(capability_bytes(manifest)).hexdigest()}


def capability_markdown(manifest: Mapping[str, Any]) -> str:
    """The page for people: a table of kinds, then one of keys for each kind."""
    origin = " ".join(filter(None, (manifest["upstream"]["name"], manifest["upstream"]["version"])))
    out = [f"# Capabilities of the pruned {origin or 'tree'}", ""]
    out.append(f"Column `{manifest['column']}`. Evidence is a place in the generated tree.")
    total = [
        (row["kind"], number(row["kept"]), number(row["dropped"]), number(row["absent"]))
        for row in counts(manifest)["rows"]
    ]
    out += ["", *table(("kind", ">kept", ">dropped", ">not in this release"), total)]
    kinds = dict.fromkeys(row["kind"] for row in manifest["rows"])
    for kind in kinds:
        rows = [row for row in manifest["rows"] if row["kind"] == kind]
        out += ["", f"## {kind}", "", *table(_heads(manifest), (tuple(_row(row, manifest)) for row in rows))]
    return "\n".join(out) + "\n"


def _heads(manifest: Mapping[str, Any]) -> Sequence[str]:
    return ("key", "status", *manifest["generations"], "evidence, or the rule that drops it", "note")


def _row(row: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[str]:
    yield code(row["key"])
    yield row["status"]
    for generation in manifest["generations"]:
        yield "yes" if row["status"] == "kept" and generation in row["generations"] else ""
    if row["status"] == "kept":
        yield ", ".join(code(place) for place in row["evidence"])
    else:
        yield ", ".join(f"{code(cause['rule'])} ({cause['place']})" for cause in row["dropped_by"])
    yield row["note"]
