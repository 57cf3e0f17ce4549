"""Tiny models: every module of the output's gives bit for bit what upstream's gives, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any


class Layers:
    """Judges the answers of one device."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []  # models that upstream cannot run here

    def judge(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Problems, each beginning with a model's name."""
        for name, before in up.items():
            why = failure(before)
            if why:
                self.notes.append(f"{name}: not compared, upstream does not run here: {why}")
                self.counts["models that upstream does not run here"] += 1
            elif found := failure(out[name]):
                yield f"{name}: {found}; upstream runs"
            else:
                yield from self._model(name, before, out[name])

    def _model(self, name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
        self.counts["models"] += 1
        self.counts["steps"] += len(after["steps"])
        self.counts["outputs of modules equal bit for bit"] += len(after["layers"])
        self.counts["native calls"] += sum(after["natives"].values())
        if not before["finite"]:
            yield f"{name}: upstream's own answer is not finite, so equality says nothing"
        for one, other in zip(before["layers"], after["layers"], strict=False):
            if one != other:
                where = f"{name}, {one[0]}, {one[1]}"
                if one[:2] != other[:2]:
                    yield f"{where}: here {other[0]}, {other[1]} comes in its place"
                else:
                    yield f"{where}: {other[2]}, upstream {one[2]}: the first module that differs"
                break
        else:
            if len(before["layers"]) != len(after["layers"]):
                yield f"{name}: {len(after['layers'])} outputs of modules, upstream {len(before['layers'])}"
        for part in ("steps", "routed", "natives"):
            if before[part] != after[part]:
                lost = [f"{k}: {v}" for k, v in before[part].items() if after[part].get(k) != v]
                yield f"{name}: {part} differ: upstream has {'; '.join(lost)[:200] or 'less'}"


def failure(row: dict[str, Any]) -> str:
    """Why a model gave no answer, or ""."""
    if "crash" in row:
        return str(row["crash"])
    if "failure" in row:
        return f"{row['failure']['error']}: {str(row['failure']['text'])[:200]} ({row['failure']['where']})"
    return ""
