"""Outputs of a faulty engine: one of its parts is made wrong, and a file is written as that engine writes it.

The edits, the ledger and the manifest of such a run agree with each other. Three sorts:

* the rewriter decides wrongly (:data:`REWRITER`): a part of the evaluator or walker is replaced;
* marking overlooks one edge, root or method name, and what is reached by it alone goes;
* an edit's span is wrong (:data:`SPANS`).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pruner.edit import apply
from pruner.fold import evaluate, residual
from pruner.fold.value import NONE
from pruner.graph.live import walk_item, walk_method
from pruner.graph.module import ModuleWalker
from pruner.graph.world import ProgramWorld
from pruner.model import Edit
from tests.mutation.edges import edge_faults, method_faults
from tests.mutation.engine import Engine, forked
from tests.mutation.equal import other
from tests.mutation.mutants import Mutant

Patch = tuple[Any, str, Any]


def _operand(deciding: bool) -> Callable[..., Any]:
    real = evaluate.Evaluator._boolean_truth

    def wrong(self: Any, operands: Any, decides: bool) -> Any:
        found = real(self, operands, decides)
        if found is not None or decides != deciding:
            return found
        origin = frozenset().union(*(known[1] for o in operands if (known := self.truth(o)) is not None))
        return (deciding, origin) if origin else None

    return wrong


def _not(self: Any, e: Any) -> Any:
    real = _REAL["truth"]
    return self.truth(e[1]) if e[0] == "!" else real(self, e)


def _compare(op: str, a: Any, b: Any) -> Any:
    real = _REAL["compare"]
    return real({"!=": "==", "not in": "in", "is not": "is"}.get(op, op), a, b)


def _flipped(self: Any, s: Any) -> Any:
    known = _REAL["decide"](self, s)
    return None if known is None else (not known[0], known[1])


def _ends(self: Any, s: Any) -> int:
    end = int(_REAL["if"](self, s))
    last = s[4][-1] if s[4] else None
    return end or (residual.LEAVES | residual.FOLDED if last is not None and last[0] == "return" else 0)


def _neighbour(self: Any, taken: Any) -> Any:
    for e, gone in taken.parts.values():
        size = len(e[1] if e[0] == "d" else e[2]) if e[0] in ("d", "t") else 0
        if size:
            wrong = {min(index + 1, size - 1): rule for index, rule in gone.items()}
            gone.clear()
            gone.update(wrong)
    return _REAL["entries"](self, taken)


def _asserts(self: Any, s: Any) -> int:
    self.unit.decisions[s[1]] = residual.Decision("cut", NONE, "assert")
    return 0


_REAL: dict[str, Any] = {
    "truth": evaluate.Evaluator.truth,
    "compare": evaluate._compare_constants,
    "decide": residual.Walker._decide,
    "if": residual.Walker._if,
    "entries": residual.Walker._take,
    "stores": ProgramWorld.stores,
}
REWRITER: dict[str, list[Patch]] = {
    "unknown operand of and read as false": [(evaluate.Evaluator, "_boolean_truth", _operand(False))],
    "unknown operand of or read as true": [(evaluate.Evaluator, "_boolean_truth", _operand(True))],
    "not overlooked": [(evaluate.Evaluator, "truth", _not)],
    "unequal read as equal": [(evaluate, "_compare_constants", _compare)],
    "the dead side kept": [(residual.Walker, "_decide", _flipped)],
    "stores after the first overlooked": [(ProgramWorld, "stores", lambda s, m, n: _REAL["stores"](s, m, n)[:1])],
    "a return in one arm ends the block": [(residual.Walker, "_if", _ends)],
    "effects of decided tests dropped": [(residual.Walker, "effect", lambda self, test: None)],
    "names that become global not frozen": [(residual.Walker, "_must_freeze", lambda *a: set())],
    "device facts fold at import": [(residual.Walker, "_importing", property(lambda self: False))],
    "the neighbour of a dropped entry goes": [(residual.Walker, "_take", _neighbour)],
    "undecided assertions dropped": [(residual.Walker, "_assert", _asserts)],
}


def rewriter_faults(engine: Engine, each: int, tried: int, dice: random.Random) -> Iterator[Mutant]:
    """``each`` files a fault, out of ``tried`` files."""
    for name, patches in REWRITER.items():
        touched = [row for row in engine.files() if engine.live.states[row[0]].touched]
        dice.shuffle(touched)
        yield from forked(lambda n=name, p=patches, t=touched: _patched(engine, n, p, t[:tried], each)) or ()


def _patched(engine: Engine, name: str, patches: list[Patch], files: list[tuple[str, str]], each: int) -> list[Mutant]:
    for owner, attribute, value in patches:
        setattr(owner, attribute, value)
    # Nothing that the sound engine worked out may help the faulty one.
    sound = engine.marker.world
    engine.marker.world = ProgramWorld(engine.loader.table, engine.policy, sound.poisoned, sound.drops)
    found: list[Mutant] = []
    for module, path in files:
        if len(found) >= each:
            break
        with contextlib.suppress(Exception):
            _decided(engine, module)
            text, _ = engine.written(module, path)
            if other(text, engine.kept(path)):
                found.append(Mutant(f"fault: {name}", path, 1, name, ((path, text),)))
    return found


def _decided(engine: Engine, module: str) -> None:
    """Decide again what marking decided in a module: rewriting takes marking's decisions as they are."""
    state, marker = engine.live.states[module], engine.marker
    state.unit = ModuleWalker(marker.world, state.summary, marker.drops, state.frozen).walk().unit
    for item in state.items:
        if not item.walked or item.kind in ("import", "star"):
            continue
        unit = walk_item(marker.world, state.summary, marker.drops, item, marker.is_early(module, item))
        item.decided = unit if unit.changes or unit.globals else None
        for method in item.methods:
            if method.walked:
                early = marker.is_early(module, item, method)
                unit = walk_method(marker.world, state.summary, marker.drops, item, method, early)
                method.decided = unit if unit.changes or unit.globals else None


def span_faults(engine: Engine, each: int, dice: random.Random) -> Iterator[Mutant]:
    """Edits that reach too far, begin too early, or lose their replacement."""
    for name, wrong in SPANS.items():
        files = [row for row in engine.files() if engine.live.states[row[0]].touched]
        dice.shuffle(files)
        made = 0
        for module, path in files:
            if made >= each:
                break
            data = engine.snapshot.read(path)
            _, edits = engine.written(module, path)
            text = wrong(data, list(edits), dice)
            if text is not None and other(text, engine.kept(path)):
                made += 1
                yield Mutant(f"fault: {name}", path, 1, name, ((path, text),))


def _applied(data: bytes, edits: list[Edit]) -> bytes | None:
    try:
        return apply(data, tuple(edits))
    except ValueError:
        return None


def _too_far(data: bytes, edits: list[Edit], dice: random.Random) -> bytes | None:
    for index in dice.sample(range(len(edits)), len(edits)):
        edit = edits[index]
        if edit.start == 0 or data[edit.stop - 1 : edit.stop] != b"\n":
            continue
        stop = data.find(b"\n", edit.stop) + 1
        if data[edit.stop : stop].strip() and (index + 1 == len(edits) or edits[index + 1].start >= stop):
            return _applied(data, [*edits[:index], replace(edit, stop=stop), *edits[index + 1 :]])
    return None


def _too_early(data: bytes, edits: list[Edit], dice: random.Random) -> bytes | None:
    for index in dice.sample(range(len(edits)), len(edits)):
        edit = edits[index]
        start = data.rfind(b"\n", 0, max(0, edit.start - 1)) + 1
        line = data[start : edit.start].strip()
        if line and not line.startswith(b"#") and (index == 0 or edits[index - 1].stop <= start):
            return _applied(data, [*edits[:index], replace(edit, start=start), *edits[index + 1 :]])
    return None


def _replacement(data: bytes, edits: list[Edit], dice: random.Random) -> bytes | None:
    for index in dice.sample(range(len(edits)), len(edits)):
        if edits[index].text.strip() and edits[index].cause.kind != "notice":
            return _applied(data, [*edits[:index], replace(edits[index], text=b""), *edits[index + 1 :]])
    return None


SPANS: dict[str, Callable[[bytes, list[Edit], random.Random], bytes | None]] = {
    "an edit reaches a line too far": _too_far,
    "an edit begins too early": _too_early,
    "a replacement is lost": _replacement,
}


def planted_faults(
    upstream: Path, output: Path, rules: Sequence[Path], count: int, seed: int, say: Callable[[str], None]
) -> list[Mutant]:
    """About ``count`` files that a faulty engine wrote. Raises ValueError when the sound one writes another output."""
    dice = random.Random(seed)
    engine = Engine(upstream, output, rules)
    files = engine.files()
    say("marked")
    for module, path in dice.sample(files, min(25, len(files))):
        if engine.written(module, path)[0] != engine.kept(path):
            raise ValueError(f"{path}: the output was not made by this engine from these rules")
    fresh = forked(lambda: _patched(engine, "none", [], dice.sample(files, min(40, len(files))), 1))
    if fresh:
        raise ValueError(f"{fresh[0].path}: written otherwise when nothing is remembered")
    each = max(2, count // (len(REWRITER) + len(SPANS) + 12))
    found = [*rewriter_faults(engine, each, 60, dice)]
    say(f"{len(found)} files of a faulty rewriter")
    found += span_faults(engine, each, dice)
    found += edge_faults(engine, each, dice)
    found += method_faults(engine, each, dice)
    say(f"{len(found)} outputs of a faulty engine")
    return found
